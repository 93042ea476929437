package board_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub/hubtest"
)

// While a cluster has no leader, errors say so, and opening a board can be tried again until there is one.
func TestClusterLongWithoutALeader(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes its time")
	}
	servers, way := hubtest.Cluster(t, 3, hubtest.Options{Plain: true})
	h := home(t)
	link, o := reach(t, h, way), board.Options{Replicas: len(servers)}
	on, err := board.Open(t.Context(), link.Conn, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := on.Add(t.Context(), queue.Task{ID: "a", Prompt: "x", Added: on.Now()}); err != nil {
		t.Fatal(err)
	}
	servers[leader(t, link.Conn)].Kill()
	impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = on.Change(impatient, "a", func(*queue.Record) error { return nil })
	refuses(t, err, "the hub does not answer", "another leader")
	for on, err = board.Open(t.Context(), link.Conn, o); err != nil; on, err = board.Open(t.Context(), link.Conn, o) {
		refuses(t, err, "the hub does not answer", "another leader") // on a busy machine
	}
	if _, err := on.Get(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

// leader returns the number of the server that leads the stream of records.
func leader(t *testing.T, conn *nats.Conn) int {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "KV_codeloops-tasks")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(s.CachedInfo().Cluster.Leader, "n"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

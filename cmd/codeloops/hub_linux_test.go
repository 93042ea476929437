package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestHubMetrics: the hub serves its metrics over HTTP, to this machine only.
func TestHubMetrics(t *testing.T) {
	t.Parallel()
	s := newQueueStage(t, 0, "exit 1\n")
	s.start(s.dir, "hub.log", "hub", "--metrics", ":0")
	if out, err := s.codeloops(s.dir, "add.log", "queue", "add", "write something").Output(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, s.Text(s.dir, "add.log"))
	}
	var at string
	s.await("the address of the metrics", func() bool {
		_, address, told := strings.Cut(s.Text(s.dir, "hub.log"), "metrics are served at ")
		at, _, _ = strings.Cut(address, "\n")
		return told && strings.Contains(address, "\n")
	})
	if !strings.HasPrefix(at, "http://127.0.0.1:") {
		t.Errorf("the metrics are served at %s, which other machines can reach", at)
	}
	reply, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\ncodeloops_tasks{state=\"waiting\"} 1\n") || !strings.HasPrefix(reply.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("%s\n%s", reply.Header.Get("Content-Type"), text)
	}
}

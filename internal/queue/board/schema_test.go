package board_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue/board"
)

// A backlog that becomes that of another version while a worker
// is connected is named, and no silent hub.
func TestVersions(t *testing.T) {
	t.Parallel()
	h, url, _ := backlogOf(t, 1, "")
	conn, err := h.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	put := func(bucket, key, value string) {
		t.Helper()
		kept, err := js.KeyValue(t.Context(), bucket)
		if err == nil {
			_, err = kept.Put(t.Context(), key, []byte(value))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	on := through(t, h, url)
	put("codeloops-queue", "schema", "3")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = on.Follow(ctx, func(board.Update) {})
	refuses(t, err, "the backlog has version 3, but this codeloops needs version 2", "use the same version of codeloops as the hub")
	if _, err := board.Open(t.Context(), conn, board.Options{}); err == nil || !strings.Contains(err.Error(), "has version 3") {
		t.Error(err)
	}
}

package board_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// Every request to a hub that does not answer returns an error in one sentence, with a hint.
func TestHubThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	h, url, ids := backlogOf(t, 1, "")
	w := newWire(t, url)
	on := through(t, h, w.url())
	free, err := on.Get(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	w.let(0, false)
	for name, ask := range map[string]func(context.Context) error{
		"take task ": func(ctx context.Context) error {
			_, err := on.Take(ctx, free, free.Revision, queue.Worker{})
			return err
		},
		"read task ":         func(ctx context.Context) error { _, err := on.Get(ctx, ids[0]); return err },
		"follow the backlog": func(ctx context.Context) error { return on.Follow(ctx, func(board.Update) {}) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		err := ask(ctx)
		cancel()
		refuses(t, err, name, "is its disk full, or is it gone?")
		if err == nil || !strings.HasSuffix(err.Error(), ": the hub does not answer") || !board.Unreachable(err) {
			t.Errorf("%v", err)
		}
	}
}

// A board can be opened while its hub changes hands.
func TestHubThatChangesHands(t *testing.T) {
	t.Parallel()
	h, url, _ := backlogOf(t, 1, "")
	w := newWire(t, url)
	conn, err := h.Dial(w.url())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w.let(1, true)
	if _, err := board.Open(t.Context(), conn, board.Options{}); err != nil {
		t.Error(err)
	}
}

// If the connection was closed on purpose, the error does not say that the hub is unreachable.
func TestHubThatIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	h, url, ids := backlogOf(t, 1, "")
	conn, err := h.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	on, err := board.Open(t.Context(), conn, board.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	_, err = on.Get(t.Context(), ids[0])
	refuses(t, err, "the connection to the hub was closed before everything was reported to it", "is given to the next worker")
	if board.Unreachable(err) || !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("%v", err)
	}
}

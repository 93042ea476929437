package board_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/hub/hubtest"
	"codeloops/internal/wording/hint"
)

func home(t *testing.T) *hub.Home {
	t.Helper()
	h, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func reach(t *testing.T, h *hub.Home, w hub.Address) *hub.Link {
	t.Helper()
	link, err := h.Reach(w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = link.Close() })
	return link
}

// refuses expects an error and a hint with these texts.
func refuses(t *testing.T, err error, problem, advice string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %q", problem)
		return
	}
	if text, _ := hint.Of(err); !strings.Contains(err.Error(), problem) || !strings.Contains(text, advice) {
		t.Errorf("got\n%v\nhint: %s\nwant %q, %q", err, text, problem, advice)
	}
}

func TestServersThatWillNotDo(t *testing.T) {
	t.Parallel()
	t.Run("without JetStream", func(t *testing.T) {
		t.Parallel()
		s := hubtest.Start(t, hubtest.Options{Plain: true, Config: "jetstream: false"})
		_, err := board.Open(t.Context(), reach(t, home(t), s.Way()).Conn, board.Options{})
		refuses(t, err, "the server has no JetStream", "start it with -js")
	})
	t.Run("without a right", func(t *testing.T) {
		t.Parallel()
		s := hubtest.Start(t, hubtest.Options{Plain: true, Config: `authorization { users: [
			{ user: me, password: secret, permissions: { publish: { deny: "$JS.API.STREAM.CREATE.>" } } }
		] }`})
		w := s.Way()
		w.URL = strings.Replace(w.URL, "//", "//me:secret@", 1)
		_, err := board.Open(t.Context(), reach(t, home(t), w).Conn, board.Options{})
		refuses(t, err, `the account at the server lacks a right: nats: permissions violation: Permissions Violation for Publish to "$JS.API.STREAM.CREATE.`, "lists the rights")
	})
	t.Run("small", func(t *testing.T) {
		t.Parallel()
		s := hubtest.Start(t, hubtest.Options{Plain: true, Config: "max_payload: 1MB"})
		on, err := board.Open(t.Context(), reach(t, home(t), s.Way()).Conn, board.Options{})
		if err != nil {
			t.Fatal(err)
		}
		task := queue.Task{ID: "big", Prompt: strings.Repeat("x", 900<<10), Added: on.Now()}
		_, err = on.Add(t.Context(), task)
		refuses(t, err, "task big has 900 KiB, too much for the server, whose limit is 1024 KiB", "max_payload")
		// A task that was accepted still fits when its record has grown to its limit.
		task.Prompt = task.Prompt[:700<<10]
		r, err := on.Add(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := on.Change(t.Context(), r.Task.ID, func(r *queue.Record) error {
			for range 1000 {
				r.Note(on.Now(), strings.Repeat("ä", 64<<10))
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	t.Run("old", func(t *testing.T) {
		t.Parallel()
		s := hubtest.Start(t, hubtest.Options{Plain: true})
		w := hub.Address{URL: "nats://" + posing(t, strings.TrimPrefix(s.URL, "nats://"), "2.9.25")}
		_, err := board.Open(t.Context(), reach(t, home(t), w).Conn, board.Options{})
		refuses(t, err, "the server is NATS 2.9.25, which is too old", "2.10 or later")
	})
	t.Run("of another version of codeloops", func(t *testing.T) {
		t.Parallel()
		s := hubtest.Start(t, hubtest.Options{Plain: true})
		link := reach(t, home(t), s.Way())
		if _, err := board.Open(t.Context(), link.Conn, board.Options{}); err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(link.Conn)
		if err != nil {
			t.Fatal(err)
		}
		kv, err := js.KeyValue(t.Context(), "codeloops-queue")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.PutString(t.Context(), "schema", "99"); err != nil {
			t.Fatal(err)
		}
		_, err = board.Open(t.Context(), link.Conn, board.Options{})
		refuses(t, err, "the backlog has version 99, but this codeloops needs version ", "use the same version of codeloops")
	})
}

// posing is a proxy for a server that claims another version.
func posing(t *testing.T, server, version string) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, err := io.Copy(there, client); _ = errors.Join(err, there.Close()) }()
			go func() { // the server sends its version more than once
				for r := bufio.NewReader(there); err == nil; {
					var line []byte
					line, err = r.ReadBytes('\n')
					before, after, is := bytes.Cut(line, []byte(`"version":"`))
					if is && bytes.HasPrefix(line, []byte("INFO ")) {
						_, after, _ = bytes.Cut(after, []byte(`"`))
						line = fmt.Appendf(nil, `%s"version":"%s"%s`, before, version, after)
					}
					if _, e := client.Write(line); e != nil {
						err = e
					}
				}
				_ = client.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// A machine with a wrong clock uses the time of the hub, and knows the difference.
func TestClocks(t *testing.T) {
	t.Parallel()
	h := home(t)
	served, err := h.Serve(t.Context(), hub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	for _, wrong := range []time.Duration{0, time.Hour, -time.Hour} {
		link, err := h.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		on, err := board.Open(t.Context(), link.Conn, board.Options{Now: func() time.Time { return time.Now().Add(wrong) }})
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		if off := on.Now().Sub(before); off.Abs() > time.Minute {
			t.Errorf("with a clock that is wrong by %v, the time is wrong by %v", wrong, off)
		}
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	}
}

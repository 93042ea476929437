package ui

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestUnread: a browser that does not read is dropped, and nobody waits for it.
func TestUnread(t *testing.T) {
	t.Parallel()
	s, _, _ := served(t, false)
	s.Now = func() time.Time { return time.Now().Add(200*time.Millisecond - unread) } // it has been waited for almost long enough
	dropped := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out, much := s.stream(w), strings.Repeat("x", 1<<20)
		for {
			if err := out.send("part", "", much); err != nil {
				dropped <- err
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	select {
	case <-dropped:
	case <-time.After(time.Minute):
		t.Error("it is still waited for")
	}
}

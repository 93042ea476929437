package ui

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTasksDue: a process reads the queue when its store has changed, and seldom otherwise.
func TestTasksDue(t *testing.T) {
	t.Parallel()
	s, _, _ := served(t, false)
	now := time.Now()
	s.Now = func() time.Time { return now }
	store := filepath.Join(s.Logs.Host.Data("queue"), "store", "msgs")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(store, "1.blk"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(store, 0o700); err != nil {
		t.Fatal(err)
	}
	write("a")
	for i, c := range []struct {
		later time.Duration
		write string
		want  bool
	}{
		{0, "", true},
		{seldom, "", false},
		{seldom, "ab", true},
		{seldom / 2, "abc", false},
		{seldom / 2, "", true},
		{seldom, "", false},
		{anyway, "", true},
	} {
		if now = now.Add(c.later); c.write != "" {
			write(c.write)
		}
		if due := s.tasks.due(); due != c.want {
			t.Errorf("%d: due: %v", i, due)
		}
	}
}

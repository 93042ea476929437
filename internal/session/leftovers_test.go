package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// TestLeftovers: files of a session at work, links, new files and files of others are not
// leftovers.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := session.NewStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	plant := func(names ...string) { plantOld(t, dir, names) }
	rec, err := store.Create("killed", now)
	if err != nil {
		t.Fatal(err)
	}
	id := rec.ID()
	if err := rec.Handle(loop.Stamp{Seq: 1, Time: now}, loop.Started{Session: loop.Session{Prompt: "killed"}}); err != nil {
		t.Fatal(err)
	}
	const gone = "2026-01-01T00-00-00Z_aaaaaa.d"
	plant(id+".d/live", id+".d/forks/attempt_1/start", id+".d/forks/attempt_0.removed/start", id+".d/001.actor.stdout",
		".codeloops-7", ".index-123", "notes.d/mine", gone+"/live", ".index-mine")
	if err := os.Symlink(filepath.Join(dir, "notes.d"), filepath.Join(dir, "2026-01-02T00-00-00Z_bbbbbb.d")); err != nil {
		t.Skip("there are no links here:", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".doctor-1"), nil, 0o600); err != nil { // a new file
		t.Fatal(err)
	}
	var waiting []string
	look := func(at time.Time) (found []string) {
		all, waits, err := store.Leftovers(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			name, _ := filepath.Rel(dir, l.Path)
			found = append(found, filepath.ToSlash(name))
		}
		slices.Sort(found)
		waiting = waits
		return found
	}
	if got, want := look(now), []string{".codeloops-7", ".index-123"}; !slices.Equal(got, want) {
		t.Errorf("next to a running session: %q, want %q", got, want)
	}
	if err := store.Alone(id, func() error { return nil }); !errors.Is(err, session.ErrRunning) {
		t.Errorf("Alone with a running session: %v", err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	plant(id + ".d/live") // the end of its process would have kept it
	want := []string{".codeloops-7", ".index-123", id + ".d/forks/attempt_0.removed", id + ".d/live"}
	if got := look(now); !slices.Equal(got, want) {
		t.Errorf("next to a killed session: %q, want %q", got, want)
	}
	if !slices.Equal(waiting, []string{id}) {
		t.Errorf("sessions with forks: %q", waiting)
	}
	if got := look(now.Add(2 * time.Hour)); !slices.Contains(got, gone) {
		t.Errorf("without a log: %q", got)
	}
}

// plantOld creates files that have not changed for two hours.
func plantOld(t *testing.T, dir string, names []string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600), os.Chtimes(path, time.Time{}, time.Now().Add(-2*time.Hour))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStaleLocks: a lock that is held is not stale, and other files are not locks.
func TestStaleLocks(t *testing.T) {
	t.Parallel()
	own, root := t.TempDir(), t.TempDir()
	tree := session.WorkTree{Root: root, GitDir: t.TempDir(), Own: own}
	lock, err := tree.Acquire("s", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(own, "gone.lock")
	for name, text := range map[string]string{stale: `{"pid":1,"session":"x"}`, filepath.Join(own, "mine.sock"): "not a socket", filepath.Join(own, "notes"): ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, busy := session.StaleLocks(own); !slices.Equal(got, []string{stale}) || !busy {
		t.Errorf("%q, held: %t", got, busy)
	}
	if got := session.StaleGitLock(tree.GitDir); got != "" {
		t.Errorf("%s is held", got)
	}
	if err := errors.Join(lock.Close(), session.RemoveStale(stale, os.Remove)); err != nil {
		t.Fatal(err)
	}
	if got, busy := session.StaleLocks(own); len(got) > 0 || busy {
		t.Errorf("at the end %q, held: %t", got, busy)
	}
}

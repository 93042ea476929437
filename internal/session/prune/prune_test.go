package prune

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"codeloops/internal/session"
)

// TestOld: sessions that run, cannot be read or are among the newest to keep are not removed.
func TestOld(t *testing.T) {
	t.Parallel()
	now := time.Now()
	one := func(id string, age time.Duration, status session.Status, err error) session.Overview {
		var o session.Overview
		o.ID, o.Started, o.Status, o.Err = id, now.Add(-age), status, err
		return o
	}
	all := []session.Overview{
		one("newest", time.Minute, "success", nil), one("bad", time.Hour, "", errors.New("no log")),
		one("young", 2*time.Hour, "max_iterations_reached", nil), one("running", 48*time.Hour, session.Running, nil), one("old", 72*time.Hour, "success", nil),
	}
	for name, c := range map[string]struct {
		before time.Duration
		keep   int
		want   []string
	}{
		"by age":    {before: 24 * time.Hour, want: []string{"old"}},
		"by number": {keep: 1, want: []string{"young", "old"}},
		"both":      {before: time.Hour, keep: 2, want: []string{"old"}},
		"all kept":  {keep: 9},
	} {
		if got, open := Old(all, now.Add(-c.before), c.keep); !slices.Equal(got, c.want) || slices.Contains(open, "young") != slices.Contains(got, "young") || slices.Contains(open, "old") {
			t.Errorf("%s: %q, %q, want %q", name, got, open, c.want)
		}
	}
}

// TestOldOfTasks: a session of a task of the queue stays as long as the work tree of the task.
func TestOldOfTasks(t *testing.T) {
	t.Parallel()
	var all []session.Overview
	for id, dir := range map[string]string{"waits": t.TempDir(), "gone": filepath.Join(t.TempDir(), "gone")} {
		var o session.Overview
		o.ID, o.Status, o.Session.Task, o.Session.WorkingDir = id, "interrupted", "task-1", dir
		all = append(all, o)
	}
	if got, _ := Old(all, time.Now(), 0); !slices.Equal(got, []string{"gone"}) {
		t.Errorf("%q", got)
	}
}

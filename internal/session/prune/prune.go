// Package prune removes sessions: their logs, the files beside them and their checkpoints.
package prune

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Removal is what is going to be removed.
type Removal struct {
	IDs         []string
	Open        int   // how many of them could be resumed, if that matters
	Space       int64 // in bytes
	Checkpoints *checkpoints.Kept

	store *session.Store
}

// Of prepares the removal of sessions, and rejects running ones.
func Of(ctx context.Context, g git.Git, store *session.Store, ids []string) (*Removal, error) {
	r := &Removal{IDs: ids, store: store}
	for _, id := range ids {
		running, err := store.Running(id)
		if err != nil {
			return nil, err
		}
		if running {
			return nil, hint.Add(fmt.Errorf("remove session %s: %w", wording.Path(id), session.ErrRunning), "stop it first, with Ctrl+C where it runs")
		}
		r.Space += store.Space(id)
	}
	var err error
	r.Checkpoints, err = checkpoints.FindRefs(ctx, g, store, ids)
	return r, err
}

// Do removes them. The logs go last: if Do fails, it can be called again.
func (r *Removal) Do(ctx context.Context) error {
	if err := r.Checkpoints.Remove(ctx); err != nil {
		return err
	}
	for _, id := range r.IDs {
		if err := r.store.Remove(id); err != nil {
			return err
		}
	}
	return nil
}

// What says how much it is.
func (r *Removal) What() string { return r.counted(" (", ")") }

func (r *Removal) counted(begin, end string) string {
	text := wording.Count(len(r.IDs), "session") + begin
	if n := r.Checkpoints.Number(); n > 0 {
		text += wording.Count(n, "checkpoint") + ", "
	}
	text += wording.Bytes(r.Space) + end
	if r.Open > 0 {
		text += fmt.Sprintf(", of which %d could be resumed", r.Open)
	}
	return text
}

// List names what is removed, with a verb such as "remove" before each session, and adds it
// up.
func (r *Removal) List(done string) string {
	var b strings.Builder
	for _, id := range r.IDs {
		fmt.Fprintf(&b, "%s %s\n", done, wording.Line(id))
		for _, ref := range r.Checkpoints.References(id) {
			fmt.Fprintf(&b, "  %s\n", wording.Line(ref))
		}
	}
	return b.String() + r.counted(", ", "") + "\n"
}

// Old returns the ids of the sessions that began before a time, except the first keep ones and those of tasks of the
// queue that are not over, and those of them that could be resumed. All sessions are given, the newest first.
func Old(all []session.Overview, before time.Time, keep int) (ids, open []string) {
	for _, one := range all {
		switch {
		case one.Err != nil: // it may be a file of somebody else's
		case keep > 0:
			keep--
		case unfinished(one): // the queue may go on with it
		case one.Status != session.Running && one.Started.Before(before):
			ids = append(ids, one.ID)
			if one.Status != session.Status(loop.Success) {
				open = append(open, one.ID)
			}
		}
	}
	return ids, open
}

// unfinished reports whether a session is of a task whose work tree is there, which the queue removes once the task is merged.
func unfinished(one session.Overview) bool {
	_, err := os.Lstat(one.Session.WorkingDir)
	return one.Session.Task != "" && err == nil
}

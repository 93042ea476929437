//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/session"
)

// TestHints: what the system refuses comes with what can be done about it, and
// what has vanished since a run began is not called the user's mistake.
func TestHints(t *testing.T) {
	t.Parallel()
	broke := func(err error) error { return &endedError{err: fmt.Errorf("capture the diff: %w", err)} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "free some space"},
		{syscall.EDQUOT, "free some space"},
		{broke(syscall.ENOSPC), "free some space"},
		{syscall.EROFS, "mounted read-only"},
		{syscall.EMFILE, "ulimit -n"},
		{syscall.EACCES, "who may read and write"},
		{session.ErrRunning, "wait for it"},
		{diff.ErrNotRepository, "git init"},
		{broke(diff.ErrNotRepository), "was it the agent?"},
		{&fs.PathError{Op: "open", Path: "/a/b", Err: syscall.ENOENT}, "looked for in /a"},
		{broke(&fs.PathError{Op: "open", Path: "/a/b", Err: syscall.ENOENT}), "was it the agent?"},
		{syscall.EIO, ""},
	} {
		got := complaints(fmt.Errorf("make something: %w", c.err))[0].Hint
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%v: the hint is %q", c.err, got)
		}
	}
}

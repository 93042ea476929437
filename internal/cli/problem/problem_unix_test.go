//go:build unix

package problem

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/proc"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// TestHints: a system error comes with a hint on how to fix it.
func TestHints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "free some space"},
		{syscall.EDQUOT, "free some space"},
		{syscall.EROFS, "mounted read-only"},
		{syscall.EMFILE, "ulimit -n"},
		{syscall.EACCES, "check its permissions"},
		{proc.ErrNotFound, "add its directory to the PATH"},
		{&fs.PathError{Op: "read", Path: "/a", Err: syscall.EISDIR}, "name a file"},
		{&fs.PathError{Op: "mkdir", Path: "/a", Err: syscall.ENOTDIR}, "is a file, and no directory"},
		{&fs.PathError{Op: "open", Path: "/a", Err: syscall.ENAMETOOLONG}, "shorter"},
		{session.ErrRunning, "wait for it"},
		{diff.ErrNotRepository, "git init"},
		{&fs.PathError{Op: "open", Path: "/a/b", Err: syscall.ENOENT}, "looked for in /a"},
		{hint.Add(syscall.ENOSPC, "its own"), "its own"},
		{syscall.EIO, ""},
	} {
		got := Of(fmt.Errorf("make something: %w", c.err))[0].Hint
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%v: the hint is %q", c.err, got)
		}
	}
}

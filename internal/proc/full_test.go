package proc_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"codeloops/internal/proc"
)

// TestDiskFull recognises git's messages about a full disk. All of them are real.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]bool{
		"fatal: unable to write loose object file: No space left on device":                                                             true,
		"error: unable to write file f4\nfatal: Could not reset index file to revision 'HEAD'.":                                         true,
		"fatal: sha1 file '/r/.git/index.lock' write error. Out of diskspace":                                                           true,
		"fatal: update_ref failed for ref 'refs/heads/a': cannot update ref 'refs/heads/a': couldn't write '/r/.git/refs/heads/a.lock'": true,
		"fatal: unable to write new index file":                                                                                         true,
		"error: file write error: Disk quota exceeded\nfatal: unable to write sha1 file":                                                true,
		"error: unable to write file f4: Permission denied":                                                                             false,
		"error: pathspec 'no space left on device: x' did not match":                                                                    false,
		"fatal: Unable to create '/r/.git/index.lock': File exists.":                                                                    false,
	} {
		err := fmt.Errorf("open: %w", &proc.ExitError{Program: "git reset", ExitCode: 128, Stderr: stderr})
		if got := errors.Is(err, syscall.ENOSPC); got != want {
			t.Errorf("%q: %t", stderr, got)
		}
	}
}

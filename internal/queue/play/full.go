package play

import (
	"errors"
	"strings"
	"syscall"

	"codeloops/internal/proc"
	"codeloops/internal/session"
)

// diskFull reports whether codeloops or git ran out of disk space. Other text in an error may come from an agent,
// so only the errors of git commands are read.
func diskFull(err error) bool {
	if failed, ok := errors.AsType[*proc.ExitError](err); ok && strings.HasPrefix(failed.Program, "git ") {
		for line := range strings.Lines(failed.Stderr) {
			if noRoom(strings.TrimSpace(line)) {
				return true
			}
		}
	}
	return session.DiskFull(err)
}

// noRoom reports whether a line of git's output means a full disk. About files that it has opened, git at times
// says only that they could not be written.
func noRoom(line string) bool {
	for _, reason := range []string{syscall.ENOSPC.Error(), syscall.EDQUOT.Error(), "out of diskspace"} {
		if strings.HasSuffix(strings.ToLower(strings.TrimSuffix(line, ".")), strings.ToLower(reason)) {
			return true
		}
	}
	_, what, _ := strings.Cut(line, ": ")
	for _, begin := range []string{"unable to write file ", "unable to write new index file", "unable to write new_index file"} {
		if rest, is := strings.CutPrefix(what, begin); is {
			return !strings.Contains(rest, ": ") // otherwise it gives a reason
		}
	}
	return strings.Contains(line, "couldn't write '") && strings.HasSuffix(line, ".lock'")
}

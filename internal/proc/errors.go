package proc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

var (
	// ErrClosed is returned by a Runner that has been closed.
	ErrClosed = errors.New("the runner is closed")
	// ErrKeeper is returned when a command's keeper was killed. The command has been
	// ended with it.
	ErrKeeper = errors.New("the process that watches over the command was killed")
	// ErrOutput is returned by [Output] for a program that exceeds MaxOutput.
	ErrOutput = errors.New("too much output")
)

// The Err of a [StartError], if one of them fits.
var (
	ErrNotFound      = errors.New("not found in PATH")
	ErrDirectory     = errors.New("is a directory")     // the program
	ErrNotDirectory  = errors.New("is not a directory") // the working directory
	ErrNotExecutable = errors.New("is not executable")
	ErrInterpreter   = errors.New("its interpreter does not exist")
	ErrFormat        = errors.New("is neither a program nor a script that names its interpreter")
	ErrTooLong       = errors.New("the arguments are too long for the system") // with the environment
)

// A StartError says what could not be started. Err is one of the errors above or the
// system's.
type StartError struct {
	Path string // the program as it was looked up, or the working directory
	Err  error
}

// Error implements error.
func (e *StartError) Error() string { return fmt.Sprintf("start %s: %v", e.Path, e.Err) }

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }

// An OverlayError says why a command could not get its own view of directories.
type OverlayError struct{ Err error }

// Error implements error.
func (e *OverlayError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *OverlayError) Unwrap() error { return e.Err }

// A SurvivorError names processes that could not be ended: those of another user, or
// stuck inside the kernel.
type SurvivorError struct {
	Processes []Process
}

// Error implements error.
func (e *SurvivorError) Error() string {
	names := make([]string, len(e.Processes))
	for i, p := range e.Processes {
		names[i] = fmt.Sprintf("%d (%s)", p.PID, p.Command)
	}
	return "some processes of the command could not be ended: " + strings.Join(names, ", ")
}

// An ExitError is a program run by [Output] that did not exit with 0.
type ExitError struct {
	Program  string
	ExitCode int    // -1 when a signal ended it
	Stderr   string // trimmed; its last 4 KiB at most
}

// Is lets a program that says that its disk is full count as [syscall.ENOSPC].
func (e *ExitError) Is(target error) bool {
	return target == syscall.ENOSPC && slices.ContainsFunc(strings.Split(e.Stderr, "\n"), noRoom)
}

// noRoom reports whether a line means a full disk. About files that it has opened, git at times says only that they could not
// be written.
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

// Error implements error.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("%s: exit code %d", e.Program, e.ExitCode)
	if e.ExitCode < 0 {
		text = e.Program + ": it was killed"
	}
	if e.Stderr != "" {
		text += ": " + e.Stderr
	}
	return text
}

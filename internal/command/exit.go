package command

import (
	"errors"

	"codeloops/internal/cli/manual"
	"codeloops/internal/loop"
)

// The exit codes of every command. main maps errors to them.
const (
	ExitDone        = 0
	ExitLimit       = 1
	ExitError       = 2
	ExitInterrupted = 130
)

// MeansInterrupted is the meaning of ExitInterrupted, for the help of any command.
const MeansInterrupted = "interrupted: Ctrl+C or SIGTERM"

// Exits lists the exit codes of a command for its help. done is the meaning of success, and short,
// unless it is "", that of falling short although nothing went wrong.
func Exits(done, short string) map[string]string {
	all := []manual.Exit{{Code: ExitDone, Meaning: done}}
	if short != "" {
		all = append(all, manual.Exit{Code: ExitLimit, Meaning: short})
	}
	return manual.Exits(append(all, failed(), manual.Exit{Code: ExitInterrupted, Meaning: MeansInterrupted})...)
}

// ServeExits lists the exit codes of a command that runs until it is told to end.
func ServeExits() map[string]string {
	return manual.Exits(manual.Exit{Code: ExitDone, Meaning: "the help was shown; without --help the command runs until it is stopped"},
		failed(), manual.Exit{Code: ExitInterrupted, Meaning: "it was stopped: Ctrl+C or SIGTERM"})
}

func failed() manual.Exit {
	return manual.Exit{Code: ExitError, Meaning: "error: usage, configuration, something that does not exist or cannot be read or written"}
}

// LookExits lists the exit codes of a command that only looks at logs.
func LookExits() map[string]string {
	return Exits("what was asked for was shown; a log that could not be read is named on standard error", "")
}

// ErrShort says that the goal was not reached, although nothing went wrong. The user has been told
// what is missing.
var ErrShort = errors.New("the goal was not reached")

// An EndedError says that a run ended without success, and that the user has been told.
type EndedError struct {
	Result loop.Result
	Err    error // what failed, still to be reported; nil: nothing
}

func (e *EndedError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return string(e.Result)
}

func (e *EndedError) Unwrap() error { return e.Err }

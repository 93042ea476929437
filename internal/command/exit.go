package command

import (
	"errors"

	"codeloops/internal/cli/manual"
	"codeloops/internal/loop"
)

// The exit codes of every command. main alone says which error comes to which.
const (
	ExitDone        = 0
	ExitLimit       = 1
	ExitError       = 2
	ExitInterrupted = 130
)

// MeansInterrupted is what that code means, for the help of any command.
const MeansInterrupted = "interrupted: Ctrl+C or SIGTERM"

// Exits are the codes of a command for its help: what its success is and, unless "", what it
// means when it has not come to that although nothing went wrong.
func Exits(done, short string) map[string]string {
	all := []manual.Exit{{Code: ExitDone, Meaning: done}}
	if short != "" {
		all = append(all, manual.Exit{Code: ExitLimit, Meaning: short})
	}
	return manual.Exits(append(all, failed(), manual.Exit{Code: ExitInterrupted, Meaning: MeansInterrupted})...)
}

// ServeExits are those of a command that goes on until it is asked to end.
func ServeExits() map[string]string {
	return manual.Exits(manual.Exit{Code: ExitDone, Meaning: "its help was shown: it does not end by itself"},
		failed(), manual.Exit{Code: ExitInterrupted, Meaning: "it was asked to end, and has: Ctrl+C or SIGTERM"})
}

func failed() manual.Exit {
	return manual.Exit{Code: ExitError, Meaning: "error: usage, configuration, something that is not there or cannot be read or written"}
}

// LookExits are those of a command that only looks at logs.
func LookExits() map[string]string {
	return Exits("what was asked for was shown; a log that could not be read is named on standard error", "")
}

// ErrShort says that what was hoped for was not reached, although nothing went wrong. The user
// has been told what is lacking.
var ErrShort = errors.New("what was hoped for was not reached")

// An EndedError says that a run ended otherwise than with success, and that
// the user has been told so.
type EndedError struct {
	Result loop.Result
	Err    error // what broke, nil when nothing did; still to be told
}

func (e *EndedError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return string(e.Result)
}

func (e *EndedError) Unwrap() error { return e.Err }

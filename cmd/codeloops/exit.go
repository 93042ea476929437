package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/cli/manual"
	"codeloops/internal/cli/signals"
	"codeloops/internal/loop"
)

// The exit codes of every command. exitTable is the one place that explains
// them; help texts and the README are made from it.
const (
	exitDone        = 0
	exitLimit       = 1
	exitError       = 2
	exitInterrupted = 130
)

type exitRow struct {
	code     int
	meaning  string
	outcomes []loop.Result
}

func exitTable() []exitRow {
	return []exitRow{
		{exitDone, "the critic said DONE, and every check passed", []loop.Result{loop.Success}},
		{exitLimit, "the iteration limit, or another budget, was reached", []loop.Result{loop.MaxIterations, loop.BudgetExhausted}},
		{exitError, "error: usage, configuration, no agent, a failure that could not be recovered from", []loop.Result{loop.Failed}},
		{exitInterrupted, meansInterrupted, []loop.Result{loop.Interrupted}},
	}
}

// What the codes that all commands share mean.
const (
	meansError       = "error: usage, configuration, something that is not there or cannot be read or written"
	meansInterrupted = "interrupted: Ctrl+C or SIGTERM"
)

// runExits are the exit codes of a command that runs the loop, for its help.
func runExits() map[string]string {
	var all []manual.Exit
	for _, row := range exitTable() {
		all = append(all, manual.Exit{Code: row.code, Meaning: row.meaning})
	}
	return manual.Exits(all...)
}

// exits are those of any other command: what its success is and, unless "", what it means
// when it has not come to that although nothing went wrong.
func exits(done, short string) map[string]string {
	all := []manual.Exit{{Code: exitDone, Meaning: done}}
	if short != "" {
		all = append(all, manual.Exit{Code: exitLimit, Meaning: short})
	}
	return manual.Exits(append(all, manual.Exit{Code: exitError, Meaning: meansError}, manual.Exit{Code: exitInterrupted, Meaning: meansInterrupted})...)
}

// lookExits are those of a command that only looks at logs.
func lookExits() map[string]string {
	return exits("what was asked for was shown; a log that could not be read is named on standard error", "")
}

// exitCodes is the table of a run's exit codes in Markdown.
func exitCodes() string {
	var b strings.Builder
	b.WriteString("| code | meaning | outcome in the log |\n|---|---|---|\n")
	for _, row := range exitTable() {
		outcomes := make([]string, 0, len(row.outcomes))
		for _, o := range row.outcomes {
			outcomes = append(outcomes, "`"+string(o)+"`")
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", row.code, row.meaning, strings.Join(outcomes, ", "))
	}
	return b.String()
}

// resultCode maps how a run ended to an exit code.
func resultCode(r loop.Result) int {
	for _, row := range exitTable() {
		if slices.Contains(row.outcomes, r) {
			return row.code
		}
	}
	return exitError
}

// An endedError says that a run ended otherwise than with success, and that
// the user has been told so.
type endedError struct {
	result loop.Result
	err    error // what broke, nil when nothing did; still to be told
}

func (e *endedError) Error() string {
	if e.err != nil {
		return e.err.Error()
	}
	return string(e.result)
}

func (e *endedError) Unwrap() error { return e.err }

// exitCode maps the error of any command to its exit code.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if ended, ok := errors.AsType[*endedError](err); ok {
		return resultCode(ended.result)
	}
	if errors.Is(err, errDiffers) || errors.Is(err, errUnmerged) {
		return exitLimit // what was hoped for was not reached
	}
	if code, ok := errors.AsType[agentExitError](err); ok {
		return int(code)
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	return exitError
}

// interrupted returns the signal in place of an error that has come of it and
// says only that something was cancelled. An end that the user has been told of
// stays what it is.
func interrupted(ctx context.Context, err error) error {
	_, told := errors.AsType[*endedError](err)
	_, known := errors.AsType[*signals.Error](err)
	if told || known || !errors.Is(err, context.Canceled) {
		return err
	}
	if cause, ok := errors.AsType[*signals.Error](context.Cause(ctx)); ok {
		return cause
	}
	return err
}

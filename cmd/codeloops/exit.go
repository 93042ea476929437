package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/cli/manual"
	"codeloops/internal/cli/signals"
	"codeloops/internal/command"
	"codeloops/internal/loop"
)

// An exitRow is an exit code of a run.
type exitRow struct {
	code     int
	meaning  string
	outcomes []loop.Result
}

// exitTable is the one place that explains them; help texts and the README are made from it.
func exitTable() []exitRow {
	return []exitRow{
		{command.ExitDone, "the work was approved, and every check passed", []loop.Result{loop.Success}},
		{command.ExitLimit, "the iteration limit, or another budget, was reached", []loop.Result{loop.MaxIterations, loop.BudgetExhausted}},
		{command.ExitError, "error: usage, configuration, no agent, a failure that could not be recovered from", []loop.Result{loop.Failed}},
		{command.ExitInterrupted, command.MeansInterrupted, []loop.Result{loop.Interrupted}},
	}
}

// runExits are the exit codes of a command that runs the loop, for its help.
func runExits() map[string]string {
	var all []manual.Exit
	for _, row := range exitTable() {
		all = append(all, manual.Exit{Code: row.code, Meaning: row.meaning})
	}
	return manual.Exits(all...)
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
	return command.ExitError
}

// exitCode maps the error of any command to its exit code.
func exitCode(err error) int {
	if err == nil {
		return command.ExitDone
	}
	if ended, ok := errors.AsType[*command.EndedError](err); ok {
		return resultCode(ended.Result)
	}
	if errors.Is(err, command.ErrShort) {
		return command.ExitLimit
	}
	if code, ok := errors.AsType[agentExitError](err); ok {
		return int(code)
	}
	if errors.Is(err, context.Canceled) {
		return command.ExitInterrupted
	}
	return command.ExitError
}

// interrupted returns the signal in place of an error that has come of it and
// says only that something was cancelled. An end that the user has been told of
// stays what it is.
func interrupted(ctx context.Context, err error) error {
	_, told := errors.AsType[*command.EndedError](err)
	_, known := errors.AsType[*signals.Error](err)
	if told || known || !errors.Is(err, context.Canceled) {
		return err
	}
	if cause, ok := errors.AsType[*signals.Error](context.Cause(ctx)); ok {
		return cause
	}
	return err
}

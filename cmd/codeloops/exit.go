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
	manual.Exit

	outcomes []loop.Result
}

// exitTable is the source of help texts and of the table in the README.
func exitTable() []exitRow {
	return []exitRow{
		{manual.Exit{Code: command.ExitDone, Meaning: "the work was approved, and every check passed"}, []loop.Result{loop.Success}},
		{manual.Exit{Code: command.ExitLimit, Meaning: "the iteration limit, or another budget, was reached"}, []loop.Result{loop.MaxIterations, loop.BudgetExhausted}},
		{manual.Exit{Code: command.ExitError, Meaning: "error: usage, configuration, no agent, a failure that could not be recovered from"}, []loop.Result{loop.Failed}},
		{manual.Exit{Code: command.ExitInterrupted, Meaning: command.MeansInterrupted}, []loop.Result{loop.Interrupted}},
	}
}

// runExits returns the exit codes of commands that run the loop, for their help.
func runExits() map[string]string {
	var all []manual.Exit
	for _, row := range exitTable() {
		all = append(all, row.Exit)
	}
	return manual.Exits(all...)
}

// exitCodes returns the table of a run's exit codes in Markdown.
func exitCodes() string {
	var b strings.Builder
	b.WriteString("| code | meaning | outcome in the log |\n|---|---|---|\n")
	for _, row := range exitTable() {
		outcomes := make([]string, 0, len(row.outcomes))
		for _, o := range row.outcomes {
			outcomes = append(outcomes, "`"+string(o)+"`")
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", row.Code, row.Meaning, strings.Join(outcomes, ", "))
	}
	return b.String()
}

// resultCode maps the result of a run to an exit code.
func resultCode(r loop.Result) int {
	for _, row := range exitTable() {
		if slices.Contains(row.outcomes, r) {
			return row.Code
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

// interrupted replaces a mere context.Canceled by the signal that caused it. An
// end that the user has already been told about is left alone.
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

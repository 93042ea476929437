package main

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/run"
)

func TestSpelled(t *testing.T) {
	t.Parallel()
	f := pflag.NewFlagSet("resume", pflag.ContinueOnError)
	new(runOptions).addRunFlags(f)
	typed := []string{"-n", "3", "--check", "a b", "--check", "", "--fail-fast", "--check-before=false", "--fallback=codex,claude:opus"}
	if err := f.Parse(typed); err != nil {
		t.Fatal(err)
	}
	got := run.Spelled(command.Given(f))
	want := []string{"-n", "3", "--check", "a b", "--check", "", "--fail-fast", "--check-before=false", "--fallback", "codex", "--fallback", "claude:opus"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

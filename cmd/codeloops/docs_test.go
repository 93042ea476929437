package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/loop"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestREADMEExitCodes: the README's table of exit codes agrees with the code.
func TestREADMEExitCodes(t *testing.T) {
	t.Parallel()
	if !strings.Contains(readme(t), exitCodes()) {
		t.Errorf("README.md does not hold this table:\n%s", exitCodes())
	}
}

// TestREADMENames: every flag and command that the README names exists.
func TestREADMENames(t *testing.T) {
	t.Parallel()
	root := newRootCmd(unwatched())
	known := map[string]bool{}
	walk(root, func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	})
	for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(readme(t), -1) {
		// Flags in the example of a user's own agent are that agent's.
		if !known[flag] && !slices.Contains([]string{"--yes", "--read-only"}, flag) {
			t.Errorf("README.md names %s, which no command has", flag)
		}
	}
	names := []string{"help", "completion"}
	for _, cmd := range root.Commands() {
		names = append(names, cmd.Name())
	}
	for _, m := range regexp.MustCompile("`codeloops ([a-z]+)").FindAllStringSubmatch(readme(t), -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("README.md names the command %q, which does not exist", m[1])
		}
	}
}

func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		walk(c, visit)
	}
}

func TestResultCodes(t *testing.T) {
	t.Parallel()
	for result, want := range map[loop.Result]int{
		loop.Success: 0, loop.MaxIterations: 1, loop.BudgetExhausted: 1, loop.Failed: 2, loop.Interrupted: 130, "?": 2,
	} {
		if got := resultCode(result); got != want {
			t.Errorf("%s: %d, want %d", result, got, want)
		}
	}
}

//go:build unix

package check_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"codeloops/internal/check"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

func runner(t *testing.T, commands ...string) *check.Runner {
	t.Helper()
	starter := proc.NewRunner(time.Now)
	t.Cleanup(func() {
		if err := starter.Close(); err != nil {
			t.Error(err)
		}
	})
	return &check.Runner{
		Starter: starter, Commands: commands, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "GREETING=hello"},
		Outputs: t.TempDir(), Timeout: 5 * time.Minute, Keep: 1 << 10, Max: 1 << 20,
	}
}

func TestEveryCheckRuns(t *testing.T) {
	t.Parallel()
	r := runner(t, "echo $GREETING; echo on stderr >&2", "exit 3", "true")
	got, err := r.Check(t.Context(), 1, "")
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		exit   int
		ending loop.Ending
		output string
		passed bool
	}
	want := []result{
		{0, loop.EndCompleted, "hello\non stderr\n", true},
		{3, loop.EndFailed, "", false},
		{0, loop.EndCompleted, "", true},
	}
	if len(got) != len(want) {
		t.Fatalf("%d results", len(got))
	}
	for i, c := range got {
		if is := (result{c.ExitCode, c.Ending, c.Output.Text, c.Passed()}); is != want[i] || c.Command != r.Commands[i] {
			t.Errorf("%s: got %+v, want %+v", c.Command, is, want[i])
		}
	}
}

func TestCheckIsStopped(t *testing.T) {
	t.Parallel()
	r := runner(t, "sleep 300", "while :; do echo yes; done")
	r.Timeout = 100 * time.Millisecond
	got, err := r.Check(t.Context(), 1, "")
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Ending != loop.EndTimedOut || got[0].Passed() {
		t.Errorf("the sleeper: %+v", got[0])
	}
	r = runner(t, "while :; do echo yes; done")
	if got, err = r.Check(t.Context(), 1, ""); err != nil {
		t.Fatal(err)
	}
	if got[0].Ending != loop.EndOutputLimit || got[0].Output.Omitted == 0 || len(got[0].Output.Text) > 2<<10 {
		t.Errorf("the chatterer: ending %s, %d bytes kept, %d omitted", got[0].Ending, len(got[0].Output.Text), got[0].Output.Omitted)
	}
}

func TestCheckIsCancelled(t *testing.T) {
	t.Parallel()
	why := errors.New("no more time")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := runner(t, "touch here; sleep 300", "touch there")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(r.Dir + "/here"); err == nil {
				cancel(why)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := r.Check(ctx, 1, ""); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	if _, err := os.Stat(r.Dir + "/there"); err == nil {
		t.Error("the second check ran")
	}
}

func TestCheckThatCannotStart(t *testing.T) {
	t.Parallel()
	r := runner(t, "true")
	r.Dir = "/no/such/directory"
	if _, err := r.Check(t.Context(), 1, ""); err == nil || !strings.Contains(err.Error(), `run the check "true"`) {
		t.Errorf("got %v", err)
	}
}

func TestPassedTreesAreNotCheckedAgain(t *testing.T) {
	t.Parallel()
	r := runner(t, "echo a >>a; echo fine", "echo b >>b; test -e mended")
	runs := func(name string) int {
		text, err := os.ReadFile(r.Dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	again := func(iteration int, state string, reused, passed bool) {
		t.Helper()
		got, err := r.Check(t.Context(), iteration, state)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Reused != reused || !got[0].Passed() || got[0].Output.Text != "fine\n" || got[1].Reused || got[1].Passed() != passed {
			t.Errorf("iteration %d: %+v", iteration, got)
		}
	}
	again(1, "one", false, false)
	again(2, "one", true, false)
	if err := os.WriteFile(r.Dir+"/mended", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again(3, "one", true, true)
	again(4, "two", false, true)
	if a, b := runs("a"), runs("b"); a != 2 || b != 4 {
		t.Errorf("the first check ran %d times, the second %d times", a, b)
	}
}

func TestEarlierResultsAreKnown(t *testing.T) {
	t.Parallel()
	r := runner(t, "false", "exit 1")
	long := strings.Repeat("x", 10_000)
	r.Know("one", []loop.CheckResult{
		{Command: "false", Ending: loop.EndCompleted, FailedBefore: true, Output: loop.Output{Text: long, Total: 10_000, File: "/gone"}},
		{Command: "exit 1", Ending: loop.EndFailed, ExitCode: 2},
	})
	got, err := r.Check(t.Context(), 2, "one")
	if err != nil {
		t.Fatal(err)
	}
	want := loop.CheckResult{
		Command: "false", Ending: loop.EndCompleted, Reused: true,
		Output: loop.Output{Text: long[:4<<10], Total: 10_000, Omitted: 10_000 - 4<<10},
	}
	if got[0] != want || got[1].Reused || got[1].ExitCode != 1 {
		t.Errorf("got %+v", got)
	}
	r = runner(t, "true")
	r.Know("", []loop.CheckResult{{Command: "true", Ending: loop.EndCompleted}})
	if got, err = r.Check(t.Context(), 2, ""); err != nil || got[0].Reused {
		t.Errorf("a state without a name was known: %+v, %v", got, err)
	}
}

func TestFailFast(t *testing.T) {
	t.Parallel()
	r := runner(t, "true", "exit 3", "touch there")
	r.FailFast = true
	got, err := r.Check(t.Context(), 1, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[1].ExitCode != 3 {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(r.Dir + "/there"); err == nil {
		t.Error("the third check ran")
	}
}

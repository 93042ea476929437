//go:build unix

package check_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/check"
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

// all returns the results of all checks, and the error that ended them.
func all(t *testing.T, r *check.Runner, iteration int) (results []loop.CheckResult, err error) {
	t.Helper()
	at := loop.Step("baseline")
	if iteration > 0 {
		at = loop.Step(strconv.Itoa(iteration)).Sub("verify")
	}
	for result, err := range r.Check(t.Context(), at) {
		if err != nil {
			return results, err
		}
		results = append(results, result)
	}
	return results, nil
}

func TestEveryCheckRuns(t *testing.T) {
	t.Parallel()
	r := runner(t, "echo $GREETING; echo on stderr >&2", "exit 3", "true")
	got, err := all(t, r, 1)
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
	got, err := all(t, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Ending != loop.EndTimedOut || got[0].Passed() {
		t.Errorf("the sleeper: %+v", got[0])
	}
	r = runner(t, "while :; do echo yes; done")
	if got, err = all(t, r, 1); err != nil {
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
	var looking sync.WaitGroup
	looking.Go(func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(r.Dir + "/here"); err == nil {
				cancel(why)
			}
			time.Sleep(time.Millisecond)
		}
	})
	defer looking.Wait()
	defer cancel(nil)
	var last error
	for _, err := range r.Check(ctx, "1.verify") {
		last = err
	}
	if !errors.Is(last, why) {
		t.Errorf("got %v, want %v", last, why)
	}
	if _, err := os.Stat(r.Dir + "/there"); err == nil {
		t.Error("the second check ran")
	}
}

func TestCheckThatCannotStart(t *testing.T) {
	t.Parallel()
	r := runner(t, "true")
	r.Dir = "/no/such/directory"
	if _, err := all(t, r, 1); err == nil || !strings.Contains(err.Error(), `run the check "true"`) {
		t.Errorf("got %v", err)
	}
}

// TestEveryCheckRunsAgain: a check that has passed runs again the next time.
func TestEveryCheckRunsAgain(t *testing.T) {
	t.Parallel()
	r := runner(t, "echo x >>runs; test $(wc -l <runs) -lt 3")
	for run, want := range []bool{true, true, false} {
		got, err := all(t, r, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Passed() != want {
			t.Errorf("run %d: %+v", run+1, got[0])
		}
	}
}

// TestOutputsStay: the output of an earlier run in the same iteration is kept.
func TestOutputsStay(t *testing.T) {
	t.Parallel()
	r := runner(t, "echo x >>runs; cat runs")
	r.Keep = 1
	files := map[string]bool{}
	for _, iteration := range []int{1, 1, 2} {
		got, err := all(t, r, iteration)
		if err != nil {
			t.Fatal(err)
		}
		files[got[0].Output.File] = true
	}
	if len(files) != 3 {
		t.Errorf("three runs wrote to %v", files)
	}
}

// TestNoMoreChecks: no check runs after the caller stops iterating.
func TestNoMoreChecks(t *testing.T) {
	t.Parallel()
	r := runner(t, "true", "exit 3", "touch there")
	for result, err := range r.Check(t.Context(), "1.verify") {
		if err != nil {
			t.Fatal(err)
		}
		if !result.Passed() {
			break
		}
	}
	if _, err := os.Stat(r.Dir + "/there"); err == nil {
		t.Error("the third check ran")
	}
}

// TestFilesOfSteps: checks that run at the same time for steps outside of iterations write to
// separate files.
func TestFilesOfSteps(t *testing.T) {
	t.Parallel()
	outputs := t.TempDir()
	var both sync.WaitGroup
	for _, at := range []loop.Step{"level_1.candidate_1.checks", "level_1.candidate_2.checks"} {
		r := runner(t, "echo "+string(at))
		r.Outputs = outputs
		both.Go(func() {
			for result, err := range r.Check(t.Context(), at) {
				if err != nil || strings.TrimSpace(result.Output.Text) != string(at) || filepath.Base(result.Output.File) != string(at)+".check-1.out" {
					t.Errorf("%s: %+v, %v", at, result, err)
				}
			}
		})
	}
	both.Wait()
}

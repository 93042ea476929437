package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// A Witness runs the checks, and when all of them have passed, once more in the state in which the
// session began, with the actor's new and changed tests laid over it: tests that pass there as well
// show nothing. What came of it is one more result.
type Witness struct {
	*Runner

	Root     string // of the work tree, as commands see it
	Required bool   // without a witness the result has not passed
	// Change returns what has changed since the session began.
	Change func(context.Context) (loop.Change, error)
	// Tests returns the files of a change that hold nothing but tests, and whether there are tests in
	// others.
	Tests func(loop.Change) (files []loop.FileChange, others bool)
	// Asserted reports whether the output of a check says that an assertion failed, Unbuilt whether it
	// says that something could not be compiled or loaded.
	Asserted, Unbuilt func(output string) bool

	state string // of the work tree that the last result is about
	last  loop.CheckResult
}

var _ loop.Checker = (*Witness)(nil)

// Check implements [loop.Checker].
func (w *Witness) Check(ctx context.Context, at loop.Step) iter.Seq2[loop.CheckResult, error] {
	return func(yield func(loop.CheckResult, error) bool) {
		all := at.Iteration() > 0 // a critic will judge the work
		for result, err := range w.Runner.Check(ctx, at) {
			if !yield(result, err) || err != nil {
				return
			}
			all = all && result.Passed()
		}
		if all {
			yield(w.testify(ctx))
		}
	}
}

// testify returns the result of the witness, which is the same for the same work tree.
func (w *Witness) testify(ctx context.Context) (loop.CheckResult, error) {
	change, err := w.Change(ctx)
	if err != nil {
		return loop.CheckResult{}, err
	}
	if change.State == w.state && w.state != "" {
		w.last.Duration = 0
		return w.last, nil
	}
	found, output, err := w.before(ctx, change)
	if err != nil {
		return loop.CheckResult{}, fmt.Errorf("run the new tests on the code as it was: %w", err)
	}
	result := loop.CheckResult{Command: "witness", Witness: found.says(), Ending: loop.EndCompleted, Duration: output.Duration, Output: output.Output}
	result.Output.File = ""
	if w.Required && !found.counts() {
		result.ExitCode = 1
	}
	w.state, w.last = change.State, result
	return result, nil
}

// A finding is what the tests did in the state in which the session began. Of several checks, the
// greatest counts.
type finding int

const (
	passed   finding = iota
	failing          // without the new tests, too
	somehow          // it is not known how they fail
	unbuilt          // nothing compiles or loads
	asserted         // they fail by an assertion
	none             // there are none
	among            // they stand among the code
	nowhere          // the state could not be made
)

// counts reports whether there is a witness, as far as is known.
func (f finding) counts() bool { return f == failing || f == somehow || f == asserted }

// says says it to people and agents.
func (f finding) says() string {
	const then = "on the code as it was when the session began"
	switch f {
	case passed:
		return "none: the new tests pass " + then + ", too; write one that fails there"
	case failing:
		return "unknown: the check fails " + then + " even without the new tests, and passes now"
	case somehow:
		return "the new tests fail " + then + ", and pass now; whether by an assertion is unknown"
	case unbuilt:
		return "none: nothing compiles or loads with the new tests " + then + "; write one that fails there by an assertion"
	case asserted:
		return "the new tests fail by an assertion " + then + ", and pass now"
	case none:
		return "none: no file with tests was added or changed; add a test that fails " + then
	case among:
		return "none: the new tests stand in the same files as the code; put a test into a file of its own"
	case nowhere:
	}
	return "unknown: the code as it was when the session began could not be made in a view"
}

// before runs the checks in the state in which the session began, with the tests laid over it.
func (w *Witness) before(ctx context.Context, change loop.Change) (found finding, result loop.CheckResult, err error) {
	tests, others := w.Tests(change)
	switch {
	case len(tests) == 0 && others:
		return among, result, nil
	case len(tests) == 0:
		return none, result, nil
	case w.Open == nil:
		return nowhere, result, nil
	}
	v, err := w.Open(ctx)
	if err != nil {
		return found, result, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	rest := change
	rest.Files = slices.DeleteFunc(slices.Clone(change.Files), func(f loop.FileChange) bool {
		return slices.ContainsFunc(tests, func(t loop.FileChange) bool { return t.Path == f.Path })
	})
	for _, command := range w.Commands {
		one, now, err := w.compare(ctx, v, command, rest, change)
		if err != nil {
			return found, result, err
		}
		result.Duration += now.Duration
		if one > found {
			found, result.Output = one, now.Output
		}
		if one >= asserted {
			break
		}
	}
	var names []string
	for _, t := range tests {
		names = append(names, strconv.Quote(t.Path))
	}
	result.Output.Text = "tests: " + strings.Join(fewest(names), ", ") + "\n" + result.Output.Text
	result.Output.Total = int64(len(result.Output.Text))
	return found, result, nil
}

// compare runs a check where only the rest of a change is taken back, and if it fails, where all of it is.
func (w *Witness) compare(ctx context.Context, v View, command string, rest, all loop.Change) (found finding, with loop.CheckResult, err error) {
	with, ok, err := w.back(ctx, v, command, rest)
	switch {
	case err != nil:
		return found, with, err
	case !ok:
		return nowhere, with, nil
	case with.Passed():
		return passed, with, nil
	}
	without, ok, err := w.back(ctx, v, command, all)
	with.Duration += without.Duration
	switch {
	case err != nil:
		return found, with, err
	case !ok:
		return nowhere, with, nil
	case w.Asserted(with.Output.Text) && !w.Asserted(without.Output.Text):
		return asserted, with, nil
	case w.Unbuilt(with.Output.Text) && !w.Unbuilt(without.Output.Text):
		return unbuilt, with, nil
	case !without.Passed():
		return failing, with, nil
	}
	return somehow, with, nil
}

// back takes a change back in a view, and runs a check there.
func (w *Witness) back(ctx context.Context, v View, command string, change loop.Change) (result loop.CheckResult, ok bool, err error) {
	if err := v.Discard(ctx); err != nil {
		return result, false, err
	}
	out := filepath.Join(w.Outputs, w.name+".witness.out")
	defer os.Remove(out) //nolint:errcheck // the result has what is kept of it
	if ok, err = w.takeBack(ctx, v, change, out); err == nil && ok {
		result, err = w.run(ctx, v, command, out)
	}
	return result, ok, err
}

// takeBack undoes a change in a view. Only a process that runs there can, because nobody else sees the
// view. No setting of git's applies: an actor may have written it.
func (w *Witness) takeBack(ctx context.Context, v View, change loop.Change, out string) (ok bool, err error) {
	const submodule = 0o160000
	change.Files = slices.DeleteFunc(slices.Clone(change.Files), func(f loop.FileChange) bool { return cmp.Or(f.NewMode, f.OldMode) == submodule })
	if change.Empty() {
		return true, nil
	}
	program, err := git.Program()
	if err != nil {
		return false, err
	}
	file := filepath.Join(w.Outputs, w.name+".witness.patch")
	defer os.Remove(file) //nolint:errcheck // it is of no use any more
	if err := os.WriteFile(file, []byte(change.ApplicablePatch()), 0o600); err != nil {
		return false, err
	}
	env := append(slices.Clip(w.Env), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	res, err := v.Run(ctx, proc.Command{
		Invocation: proc.Invocation{Argv: []string{program, "--git-dir=" + os.DevNull, "apply", "--reverse", "--whitespace=nowarn", file}, Dir: v.Dir(w.Root), Env: env},
		Records:    proc.Records{Stdout: out, Stderr: out},
		Limits:     proc.Limits{Timeout: w.Timeout, MaxOutput: w.Max, Keep: w.Keep},
	})
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return res.ExitCode == 0, nil
}

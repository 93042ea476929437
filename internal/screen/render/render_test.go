package render_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
)

var plainly = lipgloss.NewRenderer(io.Discard)

var update = flag.Bool("update", false, "rewrite the golden files")

type stamped struct {
	at loop.Stamp
	e  loop.Event
}

// waits are two for a failing service, and one for a limit that was too far off to wait for.
func waits() (events []loop.Event) {
	add := func(w loop.Wait, d time.Duration, end loop.WaitEnd) {
		w.Agent, w.Until = loop.AgentRef{Agent: "claude"}, time.Date(2026, 1, 27, 16, 0, 0, 0, time.UTC)
		events = append(events, loop.WaitStarted{Iteration: 2, Role: loop.RoleActor, Wait: w})
		w.Duration, w.End = d, end
		events = append(events, loop.WaitFinished{Iteration: 2, Role: loop.RoleActor, Wait: w})
	}
	add(loop.Wait{Cause: loop.EndOverloaded}, 2*time.Second, loop.WaitOver)
	add(loop.Wait{Cause: loop.EndOverloaded, Reason: "529\x1b[2J"}, 4*time.Second, loop.WaitOver)
	add(loop.Wait{Cause: loop.EndRateLimited, Reason: "5-hour limit"}, 12*time.Minute, loop.WaitHurried)
	return events
}

// story is a run with everything that can be shown.
func story() []stamped {
	confidence, dollars := 0.95, 0.125
	turn := func(d time.Duration, e loop.Ending, code int) loop.Turn {
		return loop.Turn{Execution: loop.Execution{Duration: d, ExitCode: code}, Try: loop.Try{Ending: e}}
	}
	attempt := loop.Attempt{Turn: turn(83*time.Second, loop.EndCompleted, 0)}
	attempt.Leftovers = []loop.Process{{PID: 7, Command: "npm run dev \x1b]0;owned\x07"}, {PID: 8, Command: "sleep 300"}}
	attempt.Usage = loop.Usage{CostUSD: &dollars}
	cut := loop.Attempt{Turn: turn(time.Hour, loop.EndTimedOut, -1)}
	change := loop.Change{
		Files:      []loop.FileChange{{Path: "a.go", Status: loop.FileModified, Patch: "diff --git a/a.go b/a.go\n"}, {Path: "b.go", Status: loop.FileAdded}},
		Insertions: 40, Deletions: 12, State: "1", Warnings: []string{"b/secret cannot be read: permission denied"},
	}
	checks := []loop.CheckResult{
		{Command: "go vet ./...", Ending: loop.EndCompleted, Duration: 900 * time.Millisecond},
		{Command: "go test ./...", Ending: loop.EndFailed, ExitCode: 1, Duration: 12340 * time.Millisecond},
	}
	rejected := loop.Review{Turn: turn(20*time.Second, loop.EndCompleted, 0), Reply: "I think so.", Problem: "no line begins with DECISION:"}
	done := loop.Review{Turn: turn(34*time.Second, loop.EndCompleted, 0), Verdict: loop.Verdict{Decision: loop.Done, Summary: "fine"}}
	failing := loop.Verdict{Decision: loop.Continue, Feedback: "The reviewer was content, but:\n- `go test ./...` ended with exit code 1"}
	lost := loop.Review{Turn: turn(5*time.Second, loop.EndFailed, 1), Problem: "the critic ended with exit code 1"}
	guidance := "password validation is missing:\n" + strings.Repeat("- a rather long line of feedback that tells, in many words, what is to be done next and why\n", 9)
	more := loop.Review{Turn: turn(4*time.Second, loop.EndCompleted, 0), Verdict: loop.Verdict{Decision: loop.Error, Recovery: guidance}}
	stale := loop.Review{
		Turn: turn(9*time.Second, loop.EndCompleted, 0), Verdict: loop.Verdict{Decision: loop.Done, Summary: "fine"},
		Problem: "it decides DONE, and this has changed since the work was captured: a.go", Stale: []string{"a.go"},
	}
	last := loop.Review{Turn: turn(61*time.Second, loop.EndCompleted, 0), Verdict: loop.Verdict{Decision: loop.Done, Summary: "All requirements are met.\x1b[2J\nTests pass.", Rating: loop.Rating{Confidence: &confidence}}}

	var events []stamped
	emit := func(es ...loop.Event) {
		for _, e := range es {
			n := len(events) + 1
			events = append(events, stamped{loop.Stamp{Seq: n, Time: time.Date(2026, 1, 27, 15, 30, n, 0, time.UTC)}, e})
		}
	}
	iteration := func(n int, a loop.Attempt, c []loop.CheckResult, v loop.Verdict, reviews ...loop.Review) {
		emit(loop.IterationStarted{Iteration: n},
			loop.PhaseEntered{Iteration: n, State: loop.ActorExecuting},
			loop.Activity{Iteration: n, Role: loop.RoleActor, Notice: loop.Notice{Kind: loop.NoticeOutput, Stream: "stdout", Text: "reading \x1b[31ma.go\x1b[0m\n"}})
		if n == 2 {
			emit(waits()...)
		}
		emit(loop.ActorFinished{Iteration: n, Attempt: a},
			loop.PhaseEntered{Iteration: n, State: loop.CapturingDiff},
			loop.DiffCaptured{Iteration: n, Change: change})
		if c != nil {
			emit(loop.PhaseEntered{Iteration: n, State: loop.Verifying}, loop.ChecksFinished{Iteration: n, Checks: c})
		}
		emit(loop.PhaseEntered{Iteration: n, State: loop.CriticEvaluating})
		final := reviews[len(reviews)-1]
		for _, r := range reviews[:len(reviews)-1] {
			emit(loop.ReviewRejected{Iteration: n, Review: r})
		}
		emit(loop.CriticFinished{Iteration: n, Review: final})
		emit(loop.IterationFinished{Round: loop.Round{Iteration: n, Attempt: a, Change: change, Checks: c, Review: final, Ruling: loop.Ruling{Verdict: v}}})
	}
	emit(loop.Started{Session: loop.Session{
		ID:         "2026-01-27T15-30-00Z_abc123",
		Prompt:     "validate the input",
		WorkingDir: "/home/u/project",
		Cast:       loop.Cast{Actor: loop.AgentRef{Agent: "claude", Model: "opus"}, Critic: loop.AgentRef{Agent: "codex"}},
		Terms: loop.Terms{MaxIterations: 5, Templates: []loop.Template{
			{Key: "critique_template", Origin: "/home/u/.config/codeloops/config.toml:7", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
			{Key: "refine_template", Origin: "CODELOOPS_REFINE_TEMPLATE\x1b[2J", SHA256: "\x1b[2J"},
		}},
		View: "overlay",
	}})
	iteration(1, attempt, checks, failing, rejected, done)
	emit(loop.Warned{Iteration: 1, Text: "what the critic changed in its view of the work tree is thrown away: a.go"})
	iteration(2, cut, nil, loop.Verdict{Decision: loop.Error, Analysis: "The review gave no verdict."}, lost)
	iteration(3, attempt, nil, more.Verdict, more)
	iteration(4, attempt, checks[:1], loop.Verdict{Decision: loop.Error, Analysis: "The review gave no verdict."}, stale)
	attempt.Rejudged = true
	iteration(5, attempt, checks[:1], last.Verdict, last)
	emit(loop.Finished{Outcome: loop.Outcome{
		Result: loop.Success, Reason: loop.StopDone, Iterations: 5,
		Summary: last.Verdict.Summary, Confidence: &confidence, Duration: 4*time.Hour + 3*time.Minute,
	}})
	return events
}

func show(t *testing.T, f render.Format, o render.Options, events []stamped) string {
	t.Helper()
	var shown, result bytes.Buffer
	o.Progress, o.Room, o.Zone = &shown, o.Width, time.UTC
	o.Style, o.Ending = cmp.Or(o.Style, plainly), cmp.Or(o.Ending, plainly)
	o.Out, o.Log = &result, func() string { return "/sessions/x.jsonl" }
	sink, err := render.Run(f, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range events {
		if err := sink.Handle(s.at, s.e); err != nil {
			t.Fatal(err)
		}
	}
	return shown.String() + "=== result\n" + result.String()
}

func colours(p termenv.Profile) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(&bytes.Buffer{})
	r.SetColorProfile(p)
	r.SetHasDarkBackground(true) // as term does, whatever the background is
	return r
}

// TestColoursAreTheUsersOwn: only the terminal's 16 colours are used, whatever it supports.
func TestColoursAreTheUsersOwn(t *testing.T) {
	t.Parallel()
	for _, f := range []render.Format{render.Pretty, render.Compact} {
		var want string
		for _, p := range []termenv.Profile{termenv.ANSI, termenv.ANSI256, termenv.TrueColor} {
			r := colours(p)
			got := show(t, f, render.Options{Width: 80, Detail: render.Detail{Live: true}, Style: r, Result: render.Result{Ending: r}}, story())
			if want == "" {
				want = got
			}
			if got != want || !strings.Contains(got, "\x1b[33mCONTINUE") {
				t.Errorf("%s, profile %d: differs: %.200q", f, p, got)
			}
		}
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format render.Format
		o      render.Options
	}{
		"pretty-80":      {render.Pretty, render.Options{Width: 80}},
		"pretty-40":      {render.Pretty, render.Options{Width: 40}},
		"pretty-120":     {render.Pretty, render.Options{Width: 120}},
		"pretty-plain":   {render.Pretty, render.Options{}},
		"live-40":        {render.Pretty, render.Options{Width: 40, Detail: render.Detail{Live: true}}},
		"live-80":        {render.Pretty, render.Options{Width: 80, Detail: render.Detail{Live: true}}},
		"live-120":       {render.Pretty, render.Options{Width: 120, Detail: render.Detail{Live: true}}},
		"live-ascii":     {render.Pretty, render.Options{Width: 80, Detail: render.Detail{Live: true}, ASCII: true}},
		"live-colours":   {render.Pretty, render.Options{Width: 80, Detail: render.Detail{Live: true}, Style: colours(termenv.ANSI), Result: render.Result{Ending: colours(termenv.ANSI)}}},
		"pretty-verbose": {render.Pretty, render.Options{Width: 80, Detail: render.Detail{Verbose: true}}},
		"pretty-quiet":   {render.Pretty, render.Options{Width: 80, Detail: render.Detail{Quiet: true}}},
		"compact-40":     {render.Compact, render.Options{Width: 40}},
		"compact-80":     {render.Compact, render.Options{Width: 80}},
		"compact-plain":  {render.Compact, render.Options{}},
		"compact-120":    {render.Compact, render.Options{Width: 120, Detail: render.Detail{Verbose: true}}},
		"json":           {render.JSON, render.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := show(t, c.format, c.o, story())
			golden(t, name, shown)
			for line := range strings.Lines(shown) {
				if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); c.o.Width > 0 && w > c.o.Width && c.format == render.Pretty && !strings.HasPrefix(ansi.Strip(line), "  log: ") {
					t.Errorf("%d columns wide: %q", w, line)
				}
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept it):\n%s", file, got)
	}
}

// TestWhereTheCriticWorks: the first line says where the critic works, if the log does.
func TestWhereTheCriticWorks(t *testing.T) {
	t.Parallel()
	for view, want := range map[string]string{
		"":           "critic codex, at most",
		"overlay":    "critic codex in an overlay, at most",
		"clone":      "critic codex in a clone, at most",
		"copy":       "critic codex in a copy, at most",
		"tree":       "critic codex in the work tree itself, at most",
		"x\n\x1b[2J": "critic codex in a x, at most",
	} {
		s := loop.Session{Cast: loop.Cast{Actor: loop.AgentRef{Agent: "claude"}, Critic: loop.AgentRef{Agent: "codex"}}, Terms: loop.Terms{MaxIterations: 5}, View: view}
		for _, e := range []loop.Event{loop.Started{Session: s}, loop.Resumed{Session: s}} {
			if got := show(t, render.Pretty, render.Options{}, []stamped{{e: e}}); !strings.Contains(got, want) {
				t.Errorf("%q: got %q, want %s", view, got, want)
			}
		}
	}
}

// TestEnds shows every way in which a run can end.
func TestEnds(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, reason := range []loop.StopReason{
		loop.StopDone, loop.StopMaxIterations, loop.StopMaxDuration, loop.StopConsecutiveErrors,
		loop.StopPolicyEscalation, loop.StopInterrupted, loop.StopInternal,
	} {
		out := loop.Outcome{Result: reason.Result(), Reason: reason, Iterations: 1, Summary: "a sentence", Duration: 42 * time.Millisecond}
		now := func() (loop.Change, bool) {
			return loop.Change{Files: []loop.FileChange{{Path: "a \x1b[2J", Status: loop.FileAdded, Insertions: 3}}, Insertions: 3}, true
		}
		next := func(o loop.Outcome, changed bool) (steps []render.Step) {
			if changed {
				steps = append(steps, render.Step{For: "look", Command: "git diff"})
			}
			if o.Result != loop.Success {
				steps = append(steps, render.Step{For: "carry on", Command: "codeloops resume x"})
			}
			return steps
		}
		b.WriteString(show(t, render.Pretty, render.Options{Width: 80, After: render.After{Now: now, Next: next}}, []stamped{{loop.Stamp{Seq: 1}, loop.Finished{Outcome: out}}}))
	}
	golden(t, "ends", b.String())
}

// TestReplay: a recorded run looks as it did live.
func TestReplay(t *testing.T) {
	t.Parallel()
	grammar := &looptest.Grammar{}
	var log bytes.Buffer
	for _, s := range story() {
		if err := grammar.Handle(s.at, s.e); err != nil {
			t.Fatal(err)
		}
		if _, passing := s.e.(loop.Activity); !passing {
			log.Write(session.Encode(s.at, s.e))
		}
	}
	if err := grammar.End(); err != nil {
		t.Fatal(err)
	}
	var recorded []stamped
	for entry, err := range session.NewReader(&log, "test").Entries() {
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, stamped{entry.At, entry.Event})
	}
	for _, f := range []render.Format{render.Pretty, render.Compact} {
		for _, live := range []bool{true, false} {
			o := render.Options{Width: 80, Detail: render.Detail{Live: live}}
			if was, is := show(t, f, o, story()), show(t, f, o, recorded); was != is {
				t.Errorf("%s, live %v:\n--- live\n%s\n--- replayed\n%s", f, live, was, is)
			}
		}
	}
}

// TestFollow: a run that is followed from another process looks as it does live, including the
// agents' output.
func TestFollow(t *testing.T) {
	t.Parallel()
	store, err := session.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := store.Create("validate the input", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	all := story()
	record := func(some []stamped) {
		for _, s := range some {
			if err := recorder.Handle(s.at, s.e); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := len(all) - 1
	record(all[:last])
	var did []progress.Instant // which the run tells by itself: it is in no log
	logged := 0
	for _, s := range all[:last] {
		if does, passing := s.e.(loop.Activity); passing {
			did = append(did, progress.Instant{After: logged, At: s.at, Does: does})
		} else {
			logged = s.at.Seq
		}
	}
	doing := func(context.Context) (some []progress.Instant) {
		some, did = did, nil
		return some
	}
	var followed []stamped
	for entry, err := range store.Follow(t.Context(), recorder.ID(), doing) {
		if err != nil {
			t.Fatal(err)
		}
		if followed = append(followed, stamped{entry.At, entry.Event}); len(followed) == last {
			record(all[last:])
		}
	}
	for _, f := range []render.Format{render.Pretty, render.Compact} {
		o := render.Options{Width: 80, Detail: render.Detail{Verbose: true}}
		if was, is := show(t, f, o, all), show(t, f, o, followed); was != is {
			t.Errorf("%s:\n--- live\n%s\n--- followed\n%s", f, was, is)
		}
	}
}

// TestNothingSteersTheTerminal: no control sequence in the texts of agents reaches the terminal.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	for _, f := range []render.Format{render.Pretty, render.Compact} {
		shown := show(t, f, render.Options{Width: 80, Detail: render.Detail{Verbose: true}}, story())
		if i := strings.IndexFunc(shown, func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 {
			t.Errorf("%s: control character in %q", f, shown[max(0, i-20):i+5])
		}
	}
}

// TestWholeWithoutATerminal: without a terminal no line is cut. The end of a check's output is
// shown, and an agent's error is shown where it happens and at the end.
func TestWholeWithoutATerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 400) + "end of it"
	failed := loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndFailed, Reason: "model opus-9 not found"}, Execution: loop.Execution{ExitCode: 1}}}
	review := loop.Review{Problem: "no line " + long, Verdict: loop.Verdict{Decision: loop.Continue, Feedback: long}}
	checks := []loop.CheckResult{{Command: "true " + long, Ending: loop.EndFailed, ExitCode: 1, Output: loop.Output{
		Text: "first\nsecond\n" + strings.Repeat("\nmiddle", 9) + "\n" + long + "\nFAIL\tlast line\x1b[2J\n",
	}}}
	round := loop.Round{Iteration: 1, Attempt: failed, Checks: checks, Review: loop.Review{Verdict: review.Verdict}, Ruling: loop.Ruling{Verdict: review.Verdict}}
	events := []loop.Event{
		loop.Started{},
		loop.IterationStarted{Iteration: 1},
		loop.ActorFinished{Iteration: 1, Attempt: failed},
		loop.ChecksFinished{Iteration: 1, Checks: checks},
		loop.ReviewRejected{Iteration: 1, Review: review},
		loop.IterationFinished{Round: round},
		loop.Finished{Outcome: loop.Outcome{Result: loop.Failed, Reason: loop.StopStuck, Summary: long, ActorError: "model opus-9 not found"}},
	}
	var story []stamped
	for _, e := range events {
		story = append(story, stamped{e: e})
	}
	pretty := show(t, render.Pretty, render.Options{}, story)
	if strings.Count(pretty, "end of it") != 5 {
		t.Errorf("something is cut: %s", pretty)
	}
	for _, want := range []string{
		"exit 1: model opus-9 not found\n", "… 8 lines before\n", "FAIL    last line\n", "\n  the actor's last turn failed: model opus-9 not found\n",
	} {
		if !strings.Contains(pretty, want) {
			t.Errorf("no %q in %s", want, pretty)
		}
	}
	if strings.Contains(pretty, "second") {
		t.Errorf("the beginning of a check's output: %s", pretty)
	}
	if compact := show(t, render.Compact, render.Options{}, story); !strings.Contains(compact, "end of it\n#1 actor: exit 1: model opus-9 not found\n") {
		t.Errorf("compact: %s", compact)
	}
	narrow := show(t, render.Pretty, render.Options{Width: 80}, story[:6])
	if !strings.Contains(narrow, "end of it") {
		t.Errorf("not whole on a terminal: %s", narrow)
	}
	for line := range strings.Lines(narrow) {
		if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("too wide: %s", line)
		}
	}
}

// TestCompactIsALineAnIteration: each iteration is one line with its result, which is not cut
// without a terminal.
func TestCompactIsALineAnIteration(t *testing.T) {
	t.Parallel()
	for _, width := range []int{0, 40, 80} {
		shown := show(t, render.Compact, render.Options{Width: width}, story())
		var seen []string
		for line := range strings.Lines(shown) {
			if m := regexp.MustCompile(`^#(\d+) (DONE|CONTINUE|ERROR) `).FindStringSubmatch(line); m != nil {
				seen = append(seen, m[1])
			}
		}
		if got := strings.Join(seen, ""); got != "12345" {
			t.Errorf("in %d columns the iterations %s:\n%s", width, got, shown)
		}
		if whole := !strings.Contains(shown, "…"); whole != (width == 0) {
			t.Errorf("in %d columns, whole %t:\n%s", width, whole, shown)
		}
	}
}

// TestJSONIsTheLog: the JSON output consists of the log's lines and the agents' activities.
func TestJSONIsTheLog(t *testing.T) {
	t.Parallel()
	shown, _, _ := strings.Cut(show(t, render.JSON, render.Options{Detail: render.Detail{Quiet: true}}, story()), "=== result")
	lines := slices.Collect(strings.Lines(shown))
	if len(lines) != len(story()) {
		t.Fatalf("%d lines of %d events", len(lines), len(story()))
	}
	for i, s := range story() {
		if want := string(session.Encode(s.at, s.e)); lines[i] != want {
			t.Errorf("got  %swant %s", lines[i], want)
		}
	}
}

// TestFailures: what an agent was not allowed to do is named, with what to change if it could do nothing.
func TestFailures(t *testing.T) {
	t.Parallel()
	denied, red := loop.Failure{Act: "run `npm test`", Denied: true}, loop.Failure{Act: "run `make`", ExitCode: 2}
	for want, e := range map[string]loop.Execution{
		"":                                {},
		"everything that it tried failed": {Futile: true},
		"failed: `make` ended with exit code 2; not allowed to run `npm test`":          {Failures: []loop.Failure{red, denied}},
		"everything that it tried failed: not allowed to run `npm test`" + loop.AllowIt: {Failures: []loop.Failure{denied}, Futile: true},
		"everything that it tried failed: `make` ended with exit code 2":                {Failures: []loop.Failure{red}, Futile: true},
	} {
		if got := strings.Join(render.Failures(e), "\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	if _, err := render.Run("xml", render.Options{}); err == nil {
		t.Error("no error")
	}
}

// full is a writer without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteErrorsAreTold(t *testing.T) {
	t.Parallel()
	for _, f := range []render.Format{render.Pretty, render.Compact, render.JSON} {
		sink, err := render.Run(f, render.Options{
			Progress: full{}, Style: plainly, Zone: time.UTC, Width: 80,
			Result: render.Result{Out: full{}, Ending: plainly, Log: func() string { return "" }},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Handle(loop.Stamp{Seq: 1}, loop.Finished{}); err == nil {
			t.Error(fmt.Sprint(f, ": no error"))
		}
	}
}

package export_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/export"
	"codeloops/internal/session/sessionview"
)

var update = flag.Bool("update", false, "write the golden files")

// A course is the events of a session, step by step.
type course []session.Entry

func (c *course) add(step loop.Step, e loop.Event) {
	*c = append(*c, session.Entry{At: loop.Stamp{Seq: len(*c) + 1, Step: step}, Event: e})
}

func (c *course) note(step loop.Step, name, text string) {
	c.add(step, loop.Noted{Name: name, Text: text})
}

func (c *course) turn(step loop.Step, role loop.Role) {
	c.add(step, loop.TurnFinished{Role: role, Reply: loop.Reply{Turn: loop.Turn{
		Try: loop.Try{Agent: loop.AgentRef{Agent: "claude"}, Ending: loop.EndCompleted}, Execution: loop.Execution{Duration: 90 * time.Second},
	}}})
}

func (c *course) iteration(n int) {
	r := loop.Round{Iteration: n}
	r.Verdict.Decision = loop.Done
	c.add(loop.Step(strconv.Itoa(n)), loop.IterationFinished{Round: r})
}

// thoughts is two levels of three candidates. The second level continues with the best of the
// first.
func thoughts() (c course) {
	c.add("", loop.Started{Session: loop.Session{Prompt: "task", Strategy: loop.StrategyRef{
		Name: "tree-of-thoughts", Parameters: []loop.Parameter{{Key: "min_score", Value: "0.2"}},
	}}})
	c.add("start", loop.Noted{Name: loop.NoteCheckpoint, Text: "start", Change: loop.Change{Checkpoint: "c0"}})
	think := func(level, n int, from, score string) {
		step := loop.Step(fmt.Sprintf("level_%d.candidate_%d", level, n))
		c.note(step.Sub("fork"), loop.NoteForked, string(step.Sub("fork")))
		if from != "" {
			c.note(step.Sub("begin"), loop.NoteRestored, from)
		}
		c.turn(step.Sub("turn"), "candidate")
		c.add(step.Sub("state"), loop.Noted{Name: loop.NoteCheckpoint, Text: string(step.Sub("state")), Change: loop.Change{Checkpoint: fmt.Sprintf("c%d%d", level, n)}})
		check := loop.CheckResult{Command: "test", ExitCode: 1, Ending: loop.EndCompleted}
		c.add(step.Sub("checks"), loop.Noted{Name: loop.NoteChecks, Checks: []loop.CheckResult{check}})
		c.turn(step.Sub("evaluator"), "evaluator")
		c.note(step.Sub("score"), "tree.thought", score)
		c.note(step.Sub("fork"), loop.NoteForkDiscarded, string(step.Sub("fork")))
	}
	think(1, 2, "", "0.40") // they end in any order
	think(1, 1, "", "0.15")
	think(1, 3, "", "0.25")
	think(2, 1, "c12", "0.15")
	think(2, 3, "c12", "0.45")
	think(2, 2, "c12", "1.00")
	c.note("best", loop.NoteApplied, "c22")
	c.note("best.rejudge", loop.NoteRejudge, "")
	c.iteration(1)
	return c
}

// attempts is two attempts, of which the second passes.
func attempts() (c course) {
	c.add("", loop.Started{Session: loop.Session{Prompt: "task", Strategy: loop.StrategyRef{Name: "reflexion"}}})
	for n, of := range []struct{ score, lesson, end string }{
		{"0.30, done: false", "Replace every run of characters that are no letters by one dash,\x1b[31m and not each by itself.", loop.NoteForkDiscarded},
		{"1.00, done: true", "", loop.NoteForkApplied},
	} {
		step := loop.Step(fmt.Sprintf("attempt_%d", n+1))
		c.note(step, loop.NoteForked, string(step))
		c.iteration(n + 1)
		c.turn(step.Sub("evaluator"), "evaluator")
		c.note(step.Sub("score"), "reflexion.score", of.score)
		if of.lesson != "" {
			c.turn(step.Sub("reflector"), "reflector")
			c.note(step.Sub("lesson"), "reflexion.lesson", of.lesson)
		}
		c.note(step, of.end, string(step))
	}
	return c
}

// critiques consists of turns only, which are listed one by one.
func critiques() (c course) {
	c.add("", loop.Started{Session: loop.Session{Prompt: "task", Strategy: loop.StrategyRef{Name: "self-refine"}}})
	c.iteration(1)
	c.turn("critique.round_1", "critique")
	c.iteration(2)
	c.turn("critique.round_2", "critique")
	return c
}

// shown returns what a screen shows of the session.
func (c course) shown(t *testing.T, width int) string {
	t.Helper()
	var b bytes.Buffer
	o := export.Options{Format: export.OnScreen, Zone: time.UTC, Screen: sessionview.Screen{Width: width, Style: lipgloss.NewRenderer(io.Discard)}}
	if started, ok := c[0].Event.(loop.Started); ok {
		o.Session.Session = started.Session
	}
	err := export.Write(&b, func(yield func(session.Entry, error) bool) {
		for _, e := range c {
			if !yield(e, nil) {
				return
			}
		}
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// steps returns what is shown of the steps.
func (c course) steps(t *testing.T, width int) string {
	t.Helper()
	started, _ := c[0].Event.(loop.Started)
	_, steps, _ := strings.Cut(c.shown(t, width), "\n"+started.Session.Strategy.Name+"\n")
	return steps
}

func TestSteps(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, c := range []course{thoughts(), attempts()} {
		for _, width := range []int{120, 40} {
			fmt.Fprintf(&b, "%d columns\n%s\n", width, c.steps(t, width))
		}
	}
	golden := filepath.Join("testdata", "steps.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v; -update writes this:\n%s", err, b.String())
	}
}

// TestNoStepsOfTurns: iterations and turns are listed one by one, and nothing else.
func TestNoStepsOfTurns(t *testing.T) {
	t.Parallel()
	if got := critiques().steps(t, 80); got != "" {
		t.Errorf("shown:\n%s", got)
	}
}

// TestPartsOfFork: a fork of which parts were applied is not shown as thrown away.
func TestPartsOfFork(t *testing.T) {
	t.Parallel()
	var c course
	c.add("", loop.Started{Session: loop.Session{Prompt: "task", Strategy: loop.StrategyRef{Name: "debate"}}})
	c.note("decision", "debate.decision", "judge")
	c.note("work", loop.NoteForked, "work")
	c.add("work.step_1.end", loop.Noted{Name: loop.NoteCheckpoint, Text: "work.step_1.end", Change: loop.Change{Checkpoint: "c1"}})
	c.note("work.step_1.apply", loop.NoteApplied, "c1")
	c.note("work", loop.NoteForkDiscarded, "work")
	if got, want := c.steps(t, 80), "  decision  judge\n  work.step_1  applied\n"; got != want {
		t.Errorf("shown:\n%s", got)
	}
}

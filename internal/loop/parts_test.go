package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
)

// forest is a work tree that can be forked, with a player that writes its step into the tree it
// plays in. Forks survive a power failure, as those on a disk do.
type forest struct {
	mu      sync.Mutex
	files   map[loop.Step][]string // by fork; "" is the user's tree
	played  []loop.Step
	over    []loop.Step // turns whose end is recorded
	twice   []loop.Step // turns that were repeated although their end is recorded
	asked   int
	left    int // events until the power fails; negative means never
	journal loop.Journal
	grammar looptest.Grammar
	names   []string
}

func (f *forest) Handle(at loop.Stamp, e loop.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 {
		return errCrash
	}
	f.left--
	f.journal.Add(at, e)
	if _, ok := e.(loop.TurnFinished); ok {
		f.over = append(f.over, at.Step)
	}
	if n, ok := e.(loop.Noted); ok {
		f.names = append(f.names, fmt.Sprint(at.Step, " ", n.Name))
	}
	return f.grammar.Handle(at, e)
}

// grove is one of the forest's trees.
type grove struct {
	*forest

	name, parent loop.Step
}

func (g grove) Play(_ context.Context, c loop.Call, _ loop.Watch) (loop.Reply, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.Access == loop.Write && !slices.Contains(g.files[g.name], string(c.Step)) {
		g.files[g.name] = append(g.files[g.name], string(c.Step))
	}
	if slices.Contains(g.over, c.Step) {
		g.twice = append(g.twice, c.Step)
	}
	g.played = append(g.played, c.Step)
	return loop.Reply{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}, Text: strconv.Itoa(len(g.files[g.name]))}, nil
}

func (g grove) Fork(_ context.Context, step loop.Step) (loop.Fork, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, left := g.files[step]; !left {
		g.files[step] = append([]string{}, g.files[g.name]...)
	}
	return copied{grove{g.forest, step, g.name}}, nil
}

// copied is a grove that is a fork.
type copied struct{ grove }

func (g grove) Workplace() loop.Workplace {
	return loop.Workplace{Tree: g, Player: g, Forker: g, Restorer: g, Gate: limit{}}
}

func (g copied) Apply(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.files[g.parent] = g.files[g.name]
	return nil
}

func (g copied) Discard() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.files, g.name)
	return nil
}

func (g grove) Restore(_ context.Context, commit string) error {
	g.files[g.name] = strings.Fields(strings.TrimPrefix(commit, "kept"))
	return nil
}

func (g grove) Apply(ctx context.Context, _, to string) error {
	return g.Restore(ctx, to)
}

func (g grove) Capture(context.Context) (loop.Change, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return loop.Change{State: fmt.Sprint(g.files[g.name])}, nil
}

func (g grove) Between(_ context.Context, _, to loop.Change) (loop.Change, error) { return to, nil }

func (g grove) Checkpoint(context.Context, loop.Step, loop.Change) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "kept " + strings.Join(g.files[g.name], " "), nil
}

// contest plays three candidates at the same time, each in a fork, applies the one that asks for
// it, asks the user, and then restores everything.
type contest struct{}

func (contest) Run(ctx context.Context, s *loop.Steps) (out loop.Outcome, err error) {
	out.Reason = loop.StopDone
	start, err := s.Checkpoint(ctx, "start")
	if err != nil {
		return out, err
	}
	steps := []loop.Step{"candidate_1", "candidate_2", "candidate_3"}
	scores := make([]string, len(steps))
	err = s.Together(ctx, steps, func(ctx context.Context, i int, part *loop.Steps) error {
		return part.Fork(ctx, steps[i].Sub("fork"), func(ctx context.Context, in *loop.Steps) (bool, error) {
			for turn := range i + 1 {
				call := loop.Call{Step: steps[i].Sub(fmt.Sprint("turn_", turn+1)), Role: "candidate", Access: loop.Write}
				if _, err := in.Turns(ctx, call); err != nil {
					return false, err
				}
			}
			c, err := in.Checkpoint(ctx, steps[i].Sub("kept"))
			scores[i] = c.State
			return false, err
		})
	})
	if err != nil {
		return out, err
	}
	err = s.Fork(ctx, "winner", func(ctx context.Context, in *loop.Steps) (bool, error) {
		_, err := in.Turns(ctx, loop.Call{Step: "winner.turn", Role: "candidate", Access: loop.Write})
		return true, err
	})
	if err != nil {
		return out, err
	}
	answer, err := s.Ask(ctx, "approval", "keep it?")
	if err != nil {
		return out, err
	}
	if out.Summary = strings.Join(scores, " ") + " " + answer; answer == "no" {
		err = s.Restore(ctx, "back", start.Checkpoint)
	}
	return out, errors.Join(err, s.Note(ctx, "lesson", "contest.lesson", "learned"))
}

func (f *forest) loop() *loop.Loop {
	return &loop.Loop{
		Workplace: grove{f, "", ""}.Workplace(), Strategy: contest{}, Sink: f,
		Clock: func() time.Time { return time.Unix(0, 0) },
		Ask: func(context.Context, string) (string, error) {
			f.asked++
			return "no", nil
		},
	}
}

// TestForks: forks are applied or discarded, and a session can be resumed after a power failure at
// any event. No finished turn is repeated, and the end is the same.
func TestForks(t *testing.T) { //nolint:gocyclo // a sequence of checks
	t.Parallel()
	for crash := -1; ; crash++ {
		if crash == 0 { // there is no session to resume
			continue
		}
		f := &forest{files: map[loop.Step][]string{"": {"mine"}}, left: crash}
		out, err := f.loop().Run(t.Context(), loop.Session{ID: "s"})
		if over := err == nil; over && crash >= 0 {
			return
		}
		runs := 1
		for ; err != nil; runs++ {
			if !errors.Is(err, errCrash) || runs > 3 {
				t.Fatalf("crash %d, run %d: %v", crash, runs, err)
			}
			f.left = -1
			again := f.journal.Clone()
			out, err = f.loop().Resume(t.Context(), loop.Session{ID: "s"}, again)
		}
		if want := "[mine candidate_1.turn_1] [mine candidate_2.turn_1 candidate_2.turn_2] [mine candidate_3.turn_1 candidate_3.turn_2 candidate_3.turn_3] no"; out.Summary != want {
			t.Errorf("crash %d: %q", crash, out.Summary)
		}
		if len(f.twice) > 0 {
			t.Errorf("crash %d: %v were repeated", crash, f.twice)
		}
		if len(f.files) != 1 || !slices.Equal(f.files[""], []string{"mine"}) {
			t.Errorf("crash %d: the trees are %v", crash, f.files)
		}
		if crash < 0 && (len(f.played) != 7 || f.asked != 1 || !slices.Contains(f.names, "winner fork.applied") || !slices.Contains(f.names, "candidate_2.fork fork.discarded")) {
			t.Errorf("played %v, noted %v, asked %d times", f.played, f.names, f.asked)
		}
	}
}

// TestNobodyToAsk: a strategy that needs an answer ends the run if there is nobody to ask.
func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	f := &forest{files: map[loop.Step][]string{"": nil}, left: -1}
	l := f.loop()
	l.Ask = nil
	if _, err := l.Run(t.Context(), loop.Session{}); !errors.Is(err, loop.ErrNobody) {
		t.Error(err)
	}
}

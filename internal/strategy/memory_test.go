package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// A shelf has lessons, one of which depends on how often it was asked.
type shelf struct {
	recalls int
	told    []string
	kept    map[string]bool
}

func (s *shelf) Recall(_ context.Context, task string, most int, block bool) (string, error) {
	s.recalls++
	return fmt.Sprintf("! it is slow\na1 Look at %s\nb%d Most is %d, %t.", task, s.recalls, most, block), nil
}

func (s *shelf) Told(ids []string) { s.told = ids }

func (s *shelf) Keep(_ context.Context, task, sentence string, attempt int) (string, error) {
	s.kept[fmt.Sprintf("%s, attempt %d of %s", sentence, attempt, task)] = true
	return "c1", nil
}

// TestMemory: each attempt is told the lessons of earlier sessions, and a new lesson is kept once.
// Lessons in the log are not requested again after a power failure at any event.
func TestMemory(t *testing.T) { //nolint:gocyclo // a sequence of checks
	t.Parallel()
	for crash := -1; ; crash++ {
		if crash == 0 {
			continue
		}
		s := &shelf{kept: map[string]bool{}}
		driven := strategy.Reflexion{
			Base: strategy.ReAct{}, MaxAttempts: 3, Threshold: 0.8, Reset: true, Memory: strategy.Memory{Lessons: s, Most: 4, Block: true},
		}
		w := newWorld()
		say("attempt_1.reflector", "do better", "attempt_2.reflector", " ", "attempt_2.reflector.2", " ", "attempt_3.evaluator", "score: 1")(w)
		w.left = crash
		out, err := w.loop(driven).Run(t.Context(), loop.Session{ID: "s", Prompt: "it"})
		over := crash > 0 && err == nil
		asked := false
		for _, n := range w.notes {
			asked = asked || strings.HasPrefix(n, "reflexion.recall")
		}
		if errors.Is(err, errCrash) {
			w.left = -1
			before := s.recalls
			if out, err = w.loop(driven).Resume(t.Context(), loop.Session{ID: "s", Prompt: "it"}, w.journal.Clone()); asked && s.recalls != before {
				t.Fatalf("crash %d: lessons were requested again", crash)
			}
		}
		if err != nil || out.Reason != loop.StopDone {
			t.Fatalf("crash %d: %+v, %v", crash, out, err)
		}
		if want := map[string]bool{"do better, attempt 1 of it": true}; !reflect.DeepEqual(s.kept, want) {
			t.Fatalf("crash %d: kept %v", crash, s.kept)
		}
		if want := []string{"a1", fmt.Sprint("b", s.recalls)}; !reflect.DeepEqual(s.told, want) {
			t.Fatalf("crash %d: told %q", crash, s.told)
		}
		if crash < 0 {
			first, second := w.prompts["1.actor"], w.prompts["2.actor"]
			if !strings.HasSuffix(first, "\n\n```\n- Look at it\n- Most is 4, true.\n```") || strings.Contains(first, "slow") ||
				!strings.Contains(second, "- Most is 4, true.\n```\n\nEarlier attempts at this task fell short.") {
				t.Errorf("told %q, then %q", first, second)
			}
		}
		if over {
			return
		}
	}
}

// TestMemoryOff: nothing is asked for unless the parameters say so.
func TestMemoryOff(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]bool{"off": false, "user": true, "postgres://db/x": true} {
		s, err := made(loop.StrategyRef{Name: "reflexion", Parameters: []loop.Parameter{{Key: "lessons", Value: where}}}, &shelf{})
		if got := err == nil && s.(strategy.Reflexion).Lessons != nil; got != want {
			t.Errorf("%s: %+v, %v", where, s, err)
		}
	}
}

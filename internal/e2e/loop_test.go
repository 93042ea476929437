package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestLoop runs a complete loop: the actor writes a file, the critic reads it and wants more, the
// actor adds to it, the critic is satisfied.
func TestLoop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		var told heard
		s := newStage(t, c, turns(func(q turn) model.Answer {
			told.add(q)
			if q.critic {
				return reviews(q)
			}
			return greets(q, filepath.Join(told.work, greeting))
		}))
		told.work = s.work
		r := s.start("greet the world")
		e := r.wait()
		if e.code != 0 || e.result.Reason != loop.StopDone || len(e.rounds) != 2 {
			t.Fatalf("exit code %d, %+v, %d iterations\n%s", e.code, e.result, len(e.rounds), r.events.text())
		}
		text, err := os.ReadFile(filepath.Join(s.work, greeting))
		if err != nil || string(text) != "hello, world\n" {
			t.Errorf("the greeting is %q, %v", text, err)
		}
		if !strings.Contains(told.prompt(false, 2), "greet the world") {
			t.Errorf("the critic's feedback did not reach the actor: %s", told.prompt(false, 2))
		}
		if n := len(r.events.of("edit")) + len(r.events.of("command")); c.name != "cn" && n < 4 {
			t.Errorf("codeloops reported %d edits and commands\n%s", n, r.events.text())
		}
		for i, round := range e.rounds {
			if a, v := round.Attempt.Ending, round.Review.Ending; a != loop.EndCompleted || v != loop.EndCompleted {
				t.Errorf("iteration %d: the actor ended %s (%s), the critic %s (%s)", i+1, a, round.Attempt.Reason, v, round.Review.Reason)
			}
			if d := round.Change.ApplicablePatch(); !strings.Contains(d, "+hello") {
				t.Errorf("iteration %d: the diff is %q", i+1, d)
			}
		}
		if len(e.warned) > 0 {
			t.Errorf("warned: %q", e.warned)
		}
		costs(t, c, e)
		named(t, c, e)
		table.notef(c.name, "loop: whole", "%.1f s", e.took.Seconds())
		table.notef(c.name, "loop: actor turn", "%.1f s", e.rounds[0].Attempt.Duration.Seconds())
		table.notef(c.name, "loop: tools", "%s", told.tools())
		table.notef(c.name, "loop: left running", "%s", leftovers(e))
	})
}

// greets plays the actor.
func greets(q turn, path string) model.Answer {
	switch n := len(q.results); {
	case n == 0 && q.iteration == 1:
		return q.writes(path, "hello\n")
	case n == 0:
		return use(q.Run("printf 'hello, world\\n' > " + quoted(path)))
	case n == 1 && q.iteration == 1:
		return use(q.Run("cat " + quoted(path)))
	}
	return model.Answer{Text: "I wrote the greeting."}
}

// reviews plays the critic: it believes what its shell shows.
func reviews(q turn) model.Answer {
	switch {
	case len(q.results) == 0:
		return use(q.Run("cat " + greeting))
	case strings.Contains(q.results[0], "hello, world"):
		return model.Answer{Text: done}
	case strings.Contains(q.results[0], "hello"):
		return model.Answer{Text: goOn}
	}
	return model.Answer{Text: "DECISION: ERROR\nANALYSIS: the shell shows " + q.results[0]}
}

// heard collects the requests to a model.
type heard struct {
	work string // the repository

	mu  sync.Mutex
	all []turn
}

func (h *heard) add(t turn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, t)
}

// prompt returns codeloops' prompt of a turn.
func (h *heard) prompt(critic bool, iteration int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.all {
		if t.critic == critic && t.iteration == iteration {
			return t.prompt
		}
	}
	return ""
}

// tools names the tools that the actor used.
func (h *heard) tools() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, t := range h.all {
		if write, ok := t.Write("x", ""); ok && !t.critic {
			names = append(names, write.Tool)
		}
		if run, _ := t.Run("x"); !t.critic {
			return strings.Join(append(names, run.Tool), ", ")
		}
	}
	return ""
}

func leftovers(e end) string {
	var names []string
	for _, turn := range append(e.actor, e.critic...) {
		for _, p := range turn.Leftovers {
			names = append(names, filepath.Base(strings.Fields(p.Command + " ?")[0]))
		}
	}
	return strings.Join(names, ", ")
}

// tells checks what an agent is known to report.
type tells struct{ tokens, cost, conversation bool }

func reports(c cli) tells {
	all := tells{tokens: true, conversation: true}
	switch c.name {
	case "claude": // the others have no price of a scripted model, and report $0
		all.cost = true
	case "cn":
		return tells{}
	}
	if c.name == "cline" {
		all.conversation = false
	}
	return all
}

// costs compares the cost of the turns in the log with what the model charged.
func costs(t *testing.T, c cli, e end) {
	t.Helper()
	want := reports(c)
	for i, turn := range append(e.actor, e.critic...) {
		got, told := turn.Usage.Tokens, turn.Usage.TokensBasis() == loop.Reported
		if talks := c.name == "gemini" && i >= len(e.actor); talks { // its counts are not whole then
			if n := got.Output / (model.OutputTokens - model.ReasoningTokens); told || n == 0 || got.Input != n*(model.InputTokens+model.CacheReadTokens) {
				t.Errorf("turn %d: the tokens are %+v, %s", i+1, got, turn.Usage.TokensBasis())
			}
		} else if told != want.tokens {
			t.Errorf("turn %d: the tokens are %+v, %s", i+1, got, turn.Usage.TokensBasis())
		}
		if told {
			n := got.CacheRead / model.CacheReadTokens
			if n == 0 || *got != tokens(n, got.Reasoning) {
				t.Errorf("turn %d: the tokens are %+v, not %d times those of one answer", i+1, *got, n)
			}
			table.notef(c.name, "loop: answers paid for", "%d", n)
		}
		if (turn.Usage.CostBasis() == loop.Reported) != want.cost {
			t.Errorf("turn %d: the cost is %v", i+1, turn.Usage.CostUSD)
		}
		if (turn.Conversation != "") != want.conversation {
			t.Errorf("turn %d: the conversation is %q", i+1, turn.Conversation)
		}
	}
}

// named checks that an agent that accepts an ID for its conversation has used the one that
// codeloops chose.
func named(t *testing.T, c cli, e end) {
	t.Helper()
	for i, turn := range append(e.actor, e.critic...) {
		takes := c.name == "claude" || c.name == "gemini" && i < len(e.actor) || c.name == "qwen" || c.name == "copilot"
		if takes != (turn.SessionID != "") || takes && turn.SessionID != turn.Conversation {
			t.Errorf("turn %d: the conversation is %[3]q, want %[2]q", i+1, turn.SessionID, turn.Conversation)
		}
	}
}

// tokens returns the tokens of n answers; not every agent reports how many were reasoning.
func tokens(n, reasoning int64) loop.Tokens {
	return loop.Tokens{
		Input: n * model.InputTokens, CacheRead: n * model.CacheReadTokens, Output: n * model.OutputTokens,
		Reasoning: min(reasoning, n*model.ReasoningTokens),
	}
}

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestPrompts: tasks that look like an option, a command of the agent, or a file reach the agent
// unchanged.
func TestPrompts(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]string{
		"dash":  "-h --version is what this task begins with",
		"slash": "/help is what this task begins with",
		"at":    "@README.md is what this task begins with",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) {
				var told heard
				e := told.once(t, c, task, "I have read it.")
				table.notef(c.name, "prompt: "+name, "whole, %.1f s", e.took.Seconds())
			})
		})
	}
}

// TestLong: a task of 300 kB and an answer of 200 kB arrive complete.
func TestLong(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		var told heard
		answer := numbered("answer", 200<<10)
		e := told.once(t, c, numbered("task", 300<<10), answer)
		if got := e.actor[0].Stdout; got.Omitted != 0 || !strings.Contains(e.rounds[0].Attempt.Stdout.Text, answer) {
			t.Errorf("of an answer of %d bytes %d arrived, %d were left out", len(answer), got.Total, got.Omitted)
		}
		table.notef(c.name, "prompt: long", "300 kB in, 200 kB out, %.1f s", e.took.Seconds())
	})
}

// TestHuge: of an answer of 10 MB, the part that is not in the log is in a file, and the log says
// how large it is.
func TestHuge(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		answer := numbered("answer", 10<<20)
		s := newStage(t, c, turns(func(turn) model.Answer { return model.Answer{Text: answer} }))
		s.judge(done)
		e := s.start("-n", "1", "say much").wait()
		turn, text := e.actor[0], e.rounds[0].Attempt.Stdout.Text
		got := turn.Stdout
		if c.name == "qwen" || c.name == "gemini" { // these exit before all of their output has been read
			if turn.Ending != loop.EndFailed || got.Omitted == 0 {
				t.Errorf("it ended %s, %d bytes left out", turn.Ending, got.Omitted)
			}
		} else if off := got.Total - int64(len(answer)); turn.Ending != loop.EndCompleted || off < -1<<20 || off > 1<<20 || got.Omitted < 8<<20 ||
			!strings.HasSuffix(text, answer[len(answer)-1000:]) {
			t.Errorf("%s: of an answer of %d bytes %d arrived, %d were left out", turn.Ending, len(answer), got.Total, got.Omitted)
		}
		if st, err := os.Stat(got.File); err != nil || st.Size() < got.Total {
			t.Errorf("its file: %v", err)
		}
		table.notef(c.name, "prompt: huge", "10 MB out, %s, %.1f s", e.actor[0].Ending, e.took.Seconds())
	})
}

// numbered returns about n bytes of text, in lines that all differ.
func numbered(word string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "This is line %d of the %s, and it says nothing else.\n", i, word)
	}
	return strings.TrimSpace(b.String())
}

// once plays one actor turn with a satisfied critic, and checks that the task has arrived complete.
func (h *heard) once(t *testing.T, c cli, task, answer string) end {
	t.Helper()
	s := newStage(t, c, turns(func(q turn) model.Answer {
		h.add(q)
		return model.Answer{Text: answer}
	}))
	s.judge(done)
	s.write("task.md", task)
	r := s.start("--prompt-file", "../task.md")
	e := r.wait()
	if e.code != 0 || len(e.actor) != 1 || e.actor[0].Ending != loop.EndCompleted || len(e.rounds) != 1 {
		t.Fatalf("exit code %d, %+v\n%s", e.code, e.result, r.events.text())
	}
	if got := h.prompt(false, 1); !strings.Contains(got, task) {
		t.Errorf("of the task of %d bytes %d arrived: %.300q", len(task), len(got), got)
	}
	return e
}

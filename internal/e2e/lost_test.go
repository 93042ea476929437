package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestLostConversation: a resumed session whose conversation the agent does not know starts a new
// one in the same iteration.
func TestLostConversation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if c.name == "cline" || c.name == "cn" {
			t.Skip("the agent cannot continue a conversation by its ID")
		}
		s := newStage(t, c, turns(func(turn) model.Answer { return model.Answer{Text: "I have read it."} }))
		s.judgeTwice()
		first := s.start("--actor-session", "resume", "-n", "1", "greet the world").wait()
		if len(first.actor) != 1 || first.actor[0].Conversation == "" {
			t.Fatalf("exit code %d, %+v", first.code, first.result)
		}
		s.forget(first.actor[0].Conversation)
		r := s.carryOn("--actor-session", "resume", "-n", "3")
		e := r.wait()
		if e.code != 0 || len(e.actor) != 2 {
			t.Fatalf("exit code %d, %+v, %d turns\n%s", e.code, e.result, len(e.actor), r.events.text())
		}
		second := e.actor[1]
		if second.Ending != loop.EndCompleted || second.Resumed || len(second.Misses) != 1 || !second.Misses[0].Resumed {
			t.Errorf("the turn ended %s (%s), misses %+v", second.Ending, second.Reason, second.Misses)
		}
		if len(second.Misses) == 1 {
			table.notef(c.name, "loop: conversation lost", "%s", second.Misses[0].Reason)
		}
	})
}

// forget replaces the ID of a conversation in the log.
func (s *stage) forget(conversation string) {
	s.t.Helper()
	logs, err := filepath.Glob(filepath.Join(s.dir, "sessions", "*.jsonl"))
	s.must(err)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		s.must(err)
		other := []byte(conversation)
		for i := len(other) - 6; i < len(other); i++ { // IDs end with hexadecimal digits or letters
			if other[i] == '0' {
				other[i] = '1'
			} else {
				other[i] = '0'
			}
		}
		s.must(os.WriteFile(log, bytes.ReplaceAll(text, []byte(conversation), other), 0o600))
	}
}

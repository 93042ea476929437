package e2e

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestResume continues the actor's conversation: the model sees both prompts, and the log has the
// usage of each turn alone.
func TestResume(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if c.name == "cline" || c.name == "cn" {
			t.Skip("the agent cannot continue a conversation by its ID")
		}
		var prompts atomic.Int32
		s := newStage(t, c, turns(func(q turn) model.Answer {
			if q.iteration == 2 {
				prompts.Store(int32(q.count(actorMark)))
			}
			return model.Answer{Text: fmt.Sprintf("I have read it, pass %d.", q.iteration)}
		}))
		s.judgeTwice()
		r := s.start("--actor-session", "resume", "greet the world")
		e := r.wait()
		if e.code != 0 || len(e.rounds) != 2 || len(e.actor) != 2 {
			t.Fatalf("exit code %d, %+v, %d iterations\n%s", e.code, e.result, len(e.rounds), r.events.text())
		}
		first, second := e.actor[0], e.actor[1]
		if n := prompts.Load(); n != 2 || !second.Resumed {
			t.Errorf("in the second turn the model saw %d prompts; misses %+v", n, second.Misses)
		}
		if c.name != "droid" && first.Conversation != second.Conversation { // droid continues in a copy
			t.Errorf("the conversation was %q, then %q", first.Conversation, second.Conversation)
		}
		if second.SessionID != "" {
			t.Errorf("the second turn has the new conversation ID %q", second.SessionID)
		}
		sameCost(t, first.Usage, second.Usage)
		if first.Ending != loop.EndCompleted || second.Ending != loop.EndCompleted {
			t.Errorf("the turns ended %s and %s", first.Ending, second.Ending)
		}
		table.notef(c.name, "loop: conversation carried on", "%.1f s", e.took.Seconds())
	})
}

// sameCost checks that two equal turns have cost the same.
func sameCost(t *testing.T, first, second loop.Usage) {
	t.Helper()
	if a, b := first.Tokens, second.Tokens; a == nil || b == nil || a.Output != b.Output || a.CacheRead != b.CacheRead {
		t.Errorf("the first turn used %+v, the second %+v", a, b)
	}
	if a, b := first.CostUSD, second.CostUSD; (a == nil) != (b == nil) || a != nil && *b > *a*1.5 {
		t.Errorf("the first turn cost %v, the second %v", a, b)
	}
}

// judgeTwice is a critic that wants more the first time, and is satisfied the second time.
func (s *stage) judgeTwice() {
	s.t.Helper()
	s.critic = "judge"
	s.write("go-on", goOn)
	s.write("done", done)
	s.conf += fmt.Sprintf("[agents.judge]\ncommand = [\"/bin/sh\", \"-c\", %q]\n",
		fmt.Sprintf("cat >/dev/null; cd %s; if [ -e judged ]; then cat done; else touch judged; cat go-on; fi", quoted(filepath.Clean(s.dir))))
}

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestResume continues the actor's conversation: the model sees both prompts, and the log has the
// usage of each turn alone.
func TestResume(t *testing.T) {
	t.Parallel()
	resume(t, goOn, func(cli) bool { return true })
}

// TestResumeMention does the same with an "@" in the second prompt, for which some agents get it in
// another way. One of them cannot continue the conversation then.
func TestResumeMention(t *testing.T) {
	t.Parallel()
	resume(t, strings.TrimSpace(goOn)+", and mail@README.md\n", func(c cli) bool { return c.name != "gemini" })
}

func resume(t *testing.T, feedback string, can func(cli) bool) {
	t.Helper()
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
		s.write("go-on", feedback)
		r := s.start("--actor-session", "resume", "greet the world")
		e := r.wait()
		if e.code != 0 || len(e.rounds) != 2 || len(e.actor) != 2 {
			t.Fatalf("exit code %d, %+v, %d iterations\n%s", e.code, e.result, len(e.rounds), r.events.text())
		}
		first, second := e.actor[0], e.actor[1]
		if first.Ending != loop.EndCompleted || second.Ending != loop.EndCompleted || second.Resumed != can(c) || len(second.Misses) > 0 {
			t.Errorf("the turns ended %s and %s; resumed: %t, misses %+v", first.Ending, second.Ending, second.Resumed, second.Misses)
		}
		if can(c) {
			carriedOn(t, c, first, second, int(prompts.Load()))
		}
		if feedback == goOn { // otherwise what an agent asks for itself may not be counted
			sameCost(t, first.Usage, second.Usage)
		}
		table.notef(c.name, "loop: conversation carried on", "%.1f s", e.took.Seconds())
	})
}

// carriedOn checks two turns in one conversation. prompts are those that the model saw in the second.
func carriedOn(t *testing.T, c cli, first, second loop.Turn, prompts int) {
	t.Helper()
	if prompts != 2 {
		t.Errorf("in the second turn the model saw %d prompts", prompts)
	}
	if c.name != "droid" && first.Conversation != second.Conversation { // droid continues in a copy
		t.Errorf("the conversation was %q, then %q", first.Conversation, second.Conversation)
	}
	if second.SessionID != "" {
		t.Errorf("the second turn has the new conversation ID %q", second.SessionID)
	}
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

package fallback_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/agent/fallback"
	"codeloops/internal/loop"
)

// cli is an agent with prepared turns; the last one is repeated.
type cli struct {
	name  string
	turns []loop.Turn
	err   error
	shows loop.NoticeKind // the kind of notice it shows, if any

	answered bool // whether its service has answered

	played []agent.Request
}

func (c *cli) Run(_ context.Context, r agent.Request) (agent.Reply, error) {
	turn := c.turns[min(len(c.played), len(c.turns)-1)]
	c.played = append(c.played, r)
	if c.shows != "" {
		r.Watch(loop.Notice{Kind: c.shows})
	}
	turn.Agent = loop.AgentRef{Agent: c.name}
	turn.Resumed = r.Conversation.ID != "" && r.Conversation.Agent.Agent == c.name
	return agent.Reply{Turn: turn, Answered: c.answered}, c.err
}

func chain(players ...*cli) *fallback.Chain {
	c := &fallback.Chain{}
	for _, p := range players {
		c.Links = append(c.Links, fallback.Link{Player: p, Ref: loop.AgentRef{Agent: p.name}})
	}
	return c
}

func does(name string, turns ...loop.Turn) *cli { return &cli{name: name, turns: turns} }

var (
	done    = loop.Turn{Try: loop.Try{Ending: loop.EndCompleted, Usage: loop.Usage{Tokens: &loop.Tokens{Input: 1}}}, Conversation: "c-2"}
	limited = loop.Turn{Try: loop.Try{Ending: loop.EndRateLimited, Reason: "5-hour limit"}}
	auth    = loop.Turn{Try: loop.Try{Ending: loop.EndAuth, Reason: "run login"}}
	tooLong = loop.Turn{Try: loop.Try{Ending: loop.EndContextTooLong}}
)

// play runs one turn, and returns it and the notices.
func play(t *testing.T, c *fallback.Chain, r agent.Request) (loop.Turn, []string) {
	t.Helper()
	var notices []string
	r.Watch = func(n loop.Notice) {
		if n.Kind != loop.NoticeChange {
			t.Errorf("notice of the kind %q", n.Kind)
		}
		notices = append(notices, n.Text)
	}
	reply, err := c.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Turn, notices
}

func TestNextAgentTakesOver(t *testing.T) {
	t.Parallel()
	for _, miss := range []loop.Turn{
		limited, auth, tooLong,
		{Try: loop.Try{Ending: loop.EndOverloaded}},
		{Try: loop.Try{Ending: loop.EndPermissionDenied, Reason: "not as root"}},
	} {
		claude, codex := does("claude", miss), does("codex", done)
		c := chain(claude, codex)
		got, notices := play(t, c, agent.Request{Prompt: "p"})
		if got.Agent.Agent != "codex" || got.Ending != loop.EndCompleted || len(notices) != 1 {
			t.Errorf("%s: played by %q, %s, notices %q", miss.Ending, got.Agent.Agent, got.Ending, notices)
		}
		want := []loop.Try{{Agent: loop.AgentRef{Agent: "claude"}, Ending: miss.Ending, Reason: miss.Reason}}
		if !reflect.DeepEqual(got.Misses, want) {
			t.Errorf("misses %+v, want %+v", got.Misses, want)
		}
		if r := codex.played[0]; r.Leg != 1 || r.Prompt != "p" {
			t.Errorf("the request was %+v", r)
		}
		// The next turn is played by the agent that took over.
		if got, notices := play(t, c, agent.Request{}); got.Agent.Agent != "codex" || got.Misses != nil || notices != nil || len(claude.played) != 1 {
			t.Errorf("the next turn: %+v, notices %q", got, notices)
		}
	}
}

// answers is an agent whose turns are computed by a function.
type answers func() agent.Reply

func (a answers) Run(context.Context, agent.Request) (agent.Reply, error) { return a(), nil }

// TestTurnsAtTheSameTime: concurrent turns that begin before one of them knows that the
// agent is unavailable go through the chain independently; later turns begin with the
// agent that took over.
func TestTurnsAtTheSameTime(t *testing.T) {
	t.Parallel()
	const many = 4
	var crowd sync.WaitGroup
	crowd.Add(many)
	c := &fallback.Chain{Links: []fallback.Link{
		{Player: answers(func() agent.Reply {
			crowd.Done()
			crowd.Wait()
			return agent.Reply{Turn: limited}
		})},
		{Player: answers(func() agent.Reply { return agent.Reply{Turn: done} })},
	}}
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if got, err := c.Run(t.Context(), agent.Request{}); err != nil || got.Ending != loop.EndCompleted || len(got.Misses) != 1 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if got, err := c.Run(t.Context(), agent.Request{}); err != nil || got.Ending != loop.EndCompleted || got.Misses != nil {
		t.Errorf("the next turn: %+v, %v", got, err)
	}
}

func TestOrdinaryEndsStay(t *testing.T) {
	t.Parallel()
	for _, ending := range []loop.Ending{
		loop.EndCompleted, loop.EndFailed, loop.EndEmpty, loop.EndTimedOut, loop.EndIdle, loop.EndOutputLimit, loop.EndInterrupted,
	} {
		codex := does("codex", done)
		got, notices := play(t, chain(does("claude", loop.Turn{Try: loop.Try{Ending: ending}}), codex), agent.Request{})
		if got.Ending != ending || notices != nil || codex.played != nil {
			t.Errorf("%s: %+v, notices %q", ending, got, notices)
		}
	}
}

// TestNobodyIsLeft: if no agent is left, the turn ends with the first agent's problem.
func TestNobodyIsLeft(t *testing.T) {
	t.Parallel()
	claude, codex := does("claude", limited, limited, done), does("codex", auth)
	c := chain(claude, codex)
	got, notices := play(t, c, agent.Request{})
	want := loop.Turn{
		Try:    loop.Try{Ending: loop.EndRateLimited, Reason: "5-hour limit; then codex: not signed in: run login", Agent: loop.AgentRef{Agent: "claude"}},
		Misses: []loop.Try{{Agent: loop.AgentRef{Agent: "codex"}, Ending: loop.EndAuth, Reason: "run login"}},
	}
	if !reflect.DeepEqual(got, want) || len(notices) != 1 {
		t.Errorf("got %+v, notices %q\nwant %+v", got, notices, want)
	}
	// The next turn begins with the preferred agent.
	if got, _ := play(t, c, agent.Request{}); got.Ending != loop.EndRateLimited || len(claude.played) != 2 {
		t.Errorf("the next turn: %+v", got)
	}
	if got, _ := play(t, c, agent.Request{}); got.Ending != loop.EndCompleted || got.Agent.Agent != "claude" {
		t.Errorf("the turn after: %+v", got)
	}
	alone := does("claude", limited)
	if got, notices := play(t, chain(alone), agent.Request{}); got.Ending != loop.EndRateLimited || got.Reason != limited.Reason || notices != nil {
		t.Errorf("alone: %+v, notices %q", got, notices)
	}
}

// TestConversationThatIsLost: a conversation that cannot be resumed is replaced by a new
// one with the same agent.
func TestConversationThatIsLost(t *testing.T) {
	t.Parallel()
	before := agent.Request{Prompt: "p", Conversation: loop.Conversation{ID: "c-1", Agent: loop.AgentRef{Agent: "claude"}}}
	for _, miss := range []loop.Turn{
		{Try: loop.Try{Ending: loop.EndFailed, Reason: "no such session"}},
		{Try: loop.Try{Ending: loop.EndFailed, Usage: loop.Usage{Tokens: &loop.Tokens{}}}},
		{Try: loop.Try{Ending: loop.EndFailed, Usage: loop.Usage{Tokens: &loop.Tokens{Input: 9}, TokensEstimated: true}}},
		tooLong,
	} {
		claude, codex := does("claude", miss, done), does("codex", done)
		got, notices := play(t, chain(claude, codex), before)
		if got.Agent.Agent != "claude" || got.Resumed || len(got.Misses) != 1 || !got.Misses[0].Resumed || len(notices) != 1 {
			t.Errorf("%+v: got %+v, notices %q", miss, got, notices)
		}
		if r := claude.played[1]; r.Conversation.ID != "" || r.Leg != 1 || r.Prompt != "p" {
			t.Errorf("the request was %+v", r)
		}
	}
}

// TestConversationThatIsKept: a resumed turn that fails after doing some work, or a
// failed turn of a new conversation, is not repeated.
func TestConversationThatIsKept(t *testing.T) {
	t.Parallel()
	before := agent.Request{Conversation: loop.Conversation{ID: "c-1", Agent: loop.AgentRef{Agent: "claude"}}}
	worked := loop.Turn{Try: loop.Try{Ending: loop.EndFailed, Usage: loop.Usage{Tokens: &loop.Tokens{Output: 5}}}}
	said := loop.Turn{Try: loop.Try{Ending: loop.EndFailed}, Execution: loop.Execution{Stdout: loop.Output{Text: "I began"}}}
	for _, turn := range []loop.Turn{worked, said} {
		claude := does("claude", turn)
		if got, _ := play(t, chain(claude), before); got.Ending != loop.EndFailed || len(claude.played) != 1 {
			t.Errorf("%+v after %d turns", got, len(claude.played))
		}
	}
	claude := does("claude", loop.Turn{Try: loop.Try{Ending: loop.EndFailed}})
	if play(t, chain(claude), agent.Request{}); len(claude.played) != 1 {
		t.Errorf("a turn in a new conversation was played %d times", len(claude.played))
	}
}

// TestTooLongInEveryConversation: if a prompt is too long even for a new conversation,
// the next agent plays.
func TestTooLongInEveryConversation(t *testing.T) {
	t.Parallel()
	before := agent.Request{Conversation: loop.Conversation{ID: "c-1", Agent: loop.AgentRef{Agent: "claude"}}}
	claude, codex := does("claude", tooLong), does("codex", done)
	if got, _ := play(t, chain(claude, codex), before); got.Agent.Agent != "codex" || len(got.Misses) != 2 || len(claude.played) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestErrorsEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	claude, codex := does("claude", limited), does("codex", done)
	claude.err = broken
	if _, err := chain(claude, codex).Run(t.Context(), agent.Request{}); !errors.Is(err, broken) || codex.played != nil {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	claude.err = nil
	if reply, err := chain(claude, codex).Run(ctx, agent.Request{}); err != nil || reply.Ending != loop.EndRateLimited || codex.played != nil {
		t.Errorf("when it is cancelled: %+v, %v", reply.Turn, err)
	}
}

// asked returns a chain of agents, of which the first reports what keeps it from working.
func asked(first *cli, ending loop.Ending, found string, rest ...*cli) (c *fallback.Chain, times *int) {
	times = new(int)
	c = chain(append([]*cli{first}, rest...)...)
	c.Links[0].Diagnose = func(context.Context) (loop.Ending, string) {
		*times++
		return ending, found
	}
	return c, times
}

// nothing is a turn that failed at once without doing any work.
var nothing = loop.Turn{Try: loop.Try{Ending: loop.EndFailed, Reason: "no such thing"}, Execution: loop.Execution{Duration: 2 * time.Second}}

// A turn that fails at once is played once more. Then the agent is asked what keeps it
// from working, and the next agent takes over.
func TestTurnsThatComeToNothing(t *testing.T) {
	t.Parallel()
	qwen, codex := does("qwen", nothing), does("codex", done)
	c, times := asked(qwen, loop.EndAuth, "not seen to be signed in", codex)
	got, notices := play(t, c, agent.Request{Prompt: "p"})
	if got.Agent.Agent != "codex" || len(qwen.played) != 2 || *times != 1 || len(notices) != 2 {
		t.Fatalf("%+v after %d turns, asked %d times, notices %q", got, len(qwen.played), *times, notices)
	}
	want := []loop.Try{
		{Agent: loop.AgentRef{Agent: "qwen"}, Ending: loop.EndFailed, Reason: "no such thing"},
		{Agent: loop.AgentRef{Agent: "qwen"}, Ending: loop.EndAuth, Reason: "no such thing; not seen to be signed in"},
	}
	if !reflect.DeepEqual(got.Misses, want) {
		t.Errorf("misses %+v", got.Misses)
	}
	if first, second := qwen.played[0], qwen.played[1]; first.Leg != 0 || second.Leg != 1 || second.Prompt != "p" {
		t.Errorf("played %+v, %+v", first, second)
	}
	// Without another agent, the turn ends with the problem that was found.
	alone, _ := asked(does("qwen", nothing), loop.EndAuth, "sign in")
	if got, _ := play(t, alone, agent.Request{}); got.Ending != loop.EndAuth || got.Reason != "no such thing; sign in" || len(got.Misses) != 1 {
		t.Errorf("alone: %+v", got)
	}
}

// If no problem is found, the turn fails as it is, and the next iteration plays its turn
// only once.
func TestNothingIsFound(t *testing.T) {
	t.Parallel()
	qwen := does("qwen", nothing)
	c, times := asked(qwen, "", "", does("codex", done))
	for turn, want := range []int{2, 3} {
		if got, _ := play(t, c, agent.Request{}); got.Ending != loop.EndFailed || got.Agent.Agent != "qwen" || len(qwen.played) != want || *times != turn+1 {
			t.Errorf("turn %d: %+v, played %d times, asked %d times", turn, got, len(qwen.played), *times)
		}
	}
	once := does("qwen", nothing, done)
	c, times = asked(once, loop.EndAuth, "sign in")
	if got, _ := play(t, c, agent.Request{}); got.Ending != loop.EndCompleted || *times != 0 || len(got.Misses) != 1 {
		t.Errorf("the second time it works: %+v", got)
	}
}

// A turn with any work in it, or one that took longer, does not count as failed at once.
func TestWorkIsSomething(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]loop.Turn{
		"slow":   {Try: loop.Try{Ending: loop.EndFailed}, Execution: loop.Execution{Duration: time.Minute}},
		"spoken": {Try: loop.Try{Ending: loop.EndFailed}, Execution: loop.Execution{Stdout: loop.Output{Text: "I begin"}}},
		"tokens": {Try: loop.Try{Ending: loop.EndFailed, Usage: loop.Usage{Tokens: &loop.Tokens{Input: 1}}}},
		"cut":    {Try: loop.Try{Ending: loop.EndIdle}},
		"empty":  {Try: loop.Try{Ending: loop.EndEmpty}},
	} {
		qwen := does("qwen", turn)
		c, times := asked(qwen, loop.EndAuth, "sign in")
		if got, _ := play(t, c, agent.Request{}); got.Ending != turn.Ending || len(qwen.played) != 1 || *times != 0 {
			t.Errorf("%s: %+v after %d turns", name, got, len(qwen.played))
		}
	}
	qwen := does("qwen", nothing)
	qwen.shows = loop.NoticeEdit
	c, times := asked(qwen, loop.EndAuth, "sign in")
	if got, err := c.Run(t.Context(), agent.Request{}); err != nil || got.Ending != loop.EndFailed || len(qwen.played) != 1 || *times != 0 {
		t.Errorf("an edit: %+v, %v after %d turns", got, err, len(qwen.played))
	}
	qwen = does("qwen", nothing)
	qwen.answered = true
	c, times = asked(qwen, loop.EndAuth, "sign in")
	if got, _ := play(t, c, agent.Request{}); got.Ending != loop.EndFailed || len(qwen.played) != 1 || *times != 0 {
		t.Errorf("an answer of the service: %+v after %d turns", got, len(qwen.played))
	}
}

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

// cli is an agent whose turns end as they are written down; the last one
// repeats.
type cli struct {
	name  string
	turns []loop.Turn
	err   error
	shows loop.NoticeKind // what it does; "": nothing

	answered bool // by its service, whatever that said

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

// play asks for one turn and returns who played it, how it ended, its misses
// and what was told.
func play(t *testing.T, c *fallback.Chain, r agent.Request) (loop.Turn, []string) {
	t.Helper()
	var told []string
	r.Watch = func(n loop.Notice) {
		if n.Kind != loop.NoticeChange {
			t.Errorf("notice of the kind %q", n.Kind)
		}
		told = append(told, n.Text)
	}
	reply, err := c.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Turn, told
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
		got, told := play(t, c, agent.Request{Prompt: "p"})
		if got.Agent.Agent != "codex" || got.Ending != loop.EndCompleted || len(told) != 1 {
			t.Errorf("%s: played by %q, %s, told %q", miss.Ending, got.Agent.Agent, got.Ending, told)
		}
		want := []loop.Try{{Agent: loop.AgentRef{Agent: "claude"}, Ending: miss.Ending, Reason: miss.Reason}}
		if !reflect.DeepEqual(got.Misses, want) {
			t.Errorf("misses %+v, want %+v", got.Misses, want)
		}
		if r := codex.played[0]; r.Leg != 1 || r.Prompt != "p" {
			t.Errorf("the request was %+v", r)
		}
		// It stays with the one that took over.
		if got, told := play(t, c, agent.Request{}); got.Agent.Agent != "codex" || got.Misses != nil || told != nil || len(claude.played) != 1 {
			t.Errorf("the next turn: %+v, told %q", got, told)
		}
	}
}

// answers is an agent that plays a turn by a function.
type answers func() agent.Reply

func (a answers) Run(context.Context, agent.Request) (agent.Reply, error) { return a(), nil }

// TestTurnsAtTheSameTime: turns that begin before one of them knows that the agent cannot go
// on go through the chain by themselves; later ones begin with the agent that took over.
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
		got, told := play(t, chain(does("claude", loop.Turn{Try: loop.Try{Ending: ending}}), codex), agent.Request{})
		if got.Ending != ending || told != nil || codex.played != nil {
			t.Errorf("%s: %+v, told %q", ending, got, told)
		}
	}
}

func TestNobodyIsLeft(t *testing.T) {
	t.Parallel()
	claude, codex := does("claude", limited, limited, done), does("codex", auth)
	c := chain(claude, codex)
	got, told := play(t, c, agent.Request{})
	want := loop.Turn{
		Try:    loop.Try{Ending: loop.EndRateLimited, Reason: "5-hour limit; then codex: not signed in: run login", Agent: loop.AgentRef{Agent: "claude"}},
		Misses: []loop.Try{{Agent: loop.AgentRef{Agent: "codex"}, Ending: loop.EndAuth, Reason: "run login"}},
	}
	if !reflect.DeepEqual(got, want) || len(told) != 1 {
		t.Errorf("got %+v, told %q\nwant %+v", got, told, want)
	}
	// The next turn begins with the preferred agent.
	if got, _ := play(t, c, agent.Request{}); got.Ending != loop.EndRateLimited || len(claude.played) != 2 {
		t.Errorf("the next turn: %+v", got)
	}
	if got, _ := play(t, c, agent.Request{}); got.Ending != loop.EndCompleted || got.Agent.Agent != "claude" {
		t.Errorf("the turn after: %+v", got)
	}
	alone := does("claude", limited)
	if got, told := play(t, chain(alone), agent.Request{}); got.Ending != loop.EndRateLimited || got.Reason != limited.Reason || told != nil {
		t.Errorf("alone: %+v, told %q", got, told)
	}
}

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
		got, told := play(t, chain(claude, codex), before)
		if got.Agent.Agent != "claude" || got.Resumed || len(got.Misses) != 1 || !got.Misses[0].Resumed || len(told) != 1 {
			t.Errorf("%+v: got %+v, told %q", miss, got, told)
		}
		if r := claude.played[1]; r.Conversation.ID != "" || r.Leg != 1 || r.Prompt != "p" {
			t.Errorf("the request was %+v", r)
		}
	}
}

// TestConversationThatIsKept goes through turns that failed in their
// conversation, and are not played again.
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
		t.Errorf("a turn of its own was played %d times", len(claude.played))
	}
}

// TestTooLongInEveryConversation is for another agent.
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

// asked is a chain of one agent, and of codex behind it, that tells what keeps it
// from working.
func asked(first *cli, ending loop.Ending, found string, rest ...*cli) (c *fallback.Chain, times *int) {
	times = new(int)
	c = chain(append([]*cli{first}, rest...)...)
	c.Links[0].Ask = func(context.Context) (loop.Ending, string) {
		*times++
		return ending, found
	}
	return c, times
}

// nothing is a turn that failed at once.
var nothing = loop.Turn{Try: loop.Try{Ending: loop.EndFailed, Reason: "no such thing"}, Execution: loop.Execution{Duration: 2 * time.Second}}

// A turn that fails is played once more; then the agent is asked what
// keeps it from working, and the next one plays on in the same turn.
func TestTurnsThatComeToNothing(t *testing.T) {
	t.Parallel()
	qwen, codex := does("qwen", nothing), does("codex", done)
	c, times := asked(qwen, loop.EndAuth, "not seen to be signed in", codex)
	got, told := play(t, c, agent.Request{Prompt: "p"})
	if got.Agent.Agent != "codex" || len(qwen.played) != 2 || *times != 1 || len(told) != 2 {
		t.Fatalf("%+v after %d turns, asked %d times, told %q", got, len(qwen.played), *times, told)
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
	// Alone it ends as what was found.
	alone, _ := asked(does("qwen", nothing), loop.EndAuth, "sign in")
	if got, _ := play(t, alone, agent.Request{}); got.Ending != loop.EndAuth || got.Reason != "no such thing; sign in" || len(got.Misses) != 1 {
		t.Errorf("alone: %+v", got)
	}
}

// Where nothing is found, the turn is what it is, and is played once in the next
// iteration.
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

// A turn with any work in it, or one that took its time, is not one that came to
// nothing.
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

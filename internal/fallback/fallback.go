// Package fallback plays a turn by other means when an agent cannot play it.
package fallback

import (
	"context"
	"fmt"
	"strings"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
)

// A Player plays one turn; [patience.Agent] is one.
type Player interface {
	Run(context.Context, agent.Request) (agent.Reply, error)
}

// An Agent is a Player, and who it is.
type Agent struct {
	Player
	Ref loop.AgentRef
	// Ask finds out, without a turn, what keeps the agent from working: an ending
	// and a sentence's end, which is "" when nothing is found. nil: nobody can tell.
	Ask func(context.Context) (loop.Ending, string)
}

// A Chain is a Player that goes on with a new conversation where one cannot be
// carried on, and with the next of its agents where one cannot go on. That
// agent plays the turn again, in the work tree as it stands, and all turns after
// it. When the last one cannot go on either, the turn ends as its first try did,
// and the next turn begins with the first agent again.
//
// A turn that fails within seconds and without any work may be one of an agent
// that cannot go on and says so in words that nobody knows. It is played once
// more; when that comes to nothing as well, what keeps the agent from working is
// asked for. A Chain is not safe for concurrent use.
type Chain struct {
	Agents []Agent // at least one, the preferred one first

	at     int // whose turn it is
	hollow int // how many of its turns in a row have come to nothing, up to now
}

// Run plays a turn. Its misses are the tries before the one that is returned.
// The watch is told of every change.
func (c *Chain) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	var tries []agent.Reply
	for ; ; r.Leg++ {
		reply, err := c.play(ctx, r)
		reply.Misses = misses(tries)
		if err != nil || ctx.Err() != nil {
			return reply, err
		}
		out := c.hollow > 1 && c.ails(ctx, &reply)
		switch {
		case lost(reply):
			tell(r, fmt.Sprintf("%s could not carry on its conversation (%s): it begins a new one", reply.Agent.Agent, why(reply.Turn)))
			r.Conversation = loop.Conversation{}
		case c.hollow == 1:
			tell(r, fmt.Sprintf("%s came to nothing at once (%s): it is asked once more", reply.Agent.Agent, why(reply.Turn)))
		case !out && !Stops(reply.Turn):
			return reply, nil
		case c.at == len(c.Agents)-1:
			c.turnTo(0)
			return settle(append(tries, reply)), nil
		default:
			c.turnTo(c.at + 1)
			tell(r, fmt.Sprintf("%s cannot go on (%s): %s takes over", reply.Agent.Agent, why(reply.Turn), c.Agents[c.at].Ref.Agent))
		}
		tries = append(tries, reply)
	}
}

func (c *Chain) turnTo(at int) { c.at, c.hollow = at, 0 }

// soon is within what an agent ends that cannot work at all.
const soon = 30 * time.Second

// play plays a turn with the agent whose turn it is, and counts those that come to
// nothing.
func (c *Chain) play(ctx context.Context, r agent.Request) (agent.Reply, error) {
	worked, watch := false, r.Watch
	r.Watch = func(n loop.Notice) {
		switch n.Kind {
		case loop.NoticeMessage, loop.NoticeTool, loop.NoticeCommand, loop.NoticeEdit:
			worked = true
		case loop.NoticeOutput, loop.NoticeProblem, loop.NoticeChange:
		}
		if watch != nil {
			watch(n)
		}
	}
	reply, err := c.Agents[c.at].Run(ctx, r)
	c.hollow++
	if c.Agents[c.at].Ask == nil || worked || !hollow(reply) {
		c.hollow = 0
	}
	return reply, err
}

// hollow reports whether a turn failed at once, before a model was asked.
func hollow(r agent.Reply) bool {
	return r.Ending == loop.EndFailed && r.Duration < soon && unasked(r) && !r.Answered
}

// ails finds out what keeps the agent from working whose turns come to nothing, and
// reports whether there is something.
func (c *Chain) ails(ctx context.Context, reply *agent.Reply) bool {
	ending, found := c.Agents[c.at].Ask(ctx)
	if found == "" || ctx.Err() != nil {
		return false
	}
	reply.Ending, reply.Reason = ending, strings.TrimPrefix(reply.Reason+"; "+found, "; ")
	return true
}

// Stops reports whether a turn ended so that its agent cannot go on, and
// another one may: it is not signed in or not allowed to work, its limit or its
// service was not worth waiting for, the prompt is too long for its model.
func Stops(t loop.Turn) bool {
	return t.Blocked() || t.Ending == loop.EndOverloaded || t.Ending == loop.EndContextTooLong
}

// lost reports whether a conversation could not be carried on: the CLI failed
// before the model was asked, or the conversation is too long for it.
func lost(r agent.Reply) bool {
	if !r.Resumed {
		return false
	}
	return r.Ending == loop.EndContextTooLong || r.Ending == loop.EndFailed && unasked(r)
}

// unasked reports whether the model has said nothing, and told no tokens.
func unasked(r agent.Reply) bool {
	t := r.Usage.Tokens
	return (t == nil || r.Usage.TokensEstimated || *t == loop.Tokens{}) && strings.TrimSpace(r.Stdout.Text) == ""
}

// settle chooses, when nobody is left, how the turn ended: as its first try by
// an agent that could not go on, whose end a person will want to know. The
// others become its misses.
func settle(tries []agent.Reply) agent.Reply {
	first := 0
	for (lost(tries[first]) || !Stops(tries[first].Turn)) && first < len(tries)-1 {
		first++
	}
	chosen := tries[first]
	rest := append(tries[:first:first], tries[first+1:]...)
	for _, t := range tries[first+1:] {
		chosen.Reason = strings.TrimPrefix(fmt.Sprintf("%s; then %s: %s", chosen.Reason, t.Agent.Agent, why(t.Turn)), "; ")
	}
	chosen.Misses = misses(rest)
	return chosen
}

func misses(tries []agent.Reply) []loop.Miss {
	var all []loop.Miss
	for _, t := range tries {
		all = append(all, loop.Miss{Agent: t.Agent, Resumed: t.Resumed, Ending: t.Ending, Reason: t.Reason, Usage: t.Usage})
	}
	return all
}

func tell(r agent.Request, text string) {
	if r.Watch != nil {
		r.Watch(loop.Notice{Kind: loop.NoticeChange, Text: text})
	}
}

// why says in a few words what was in the way.
func why(t loop.Turn) string {
	words := strings.ReplaceAll(string(t.Ending), "_", " ")
	if t.Ending == loop.EndAuth {
		words = "not signed in"
	}
	if t.Reason == "" {
		return words
	}
	return words + ": " + t.Reason
}

// Package fallback lets the next agent play a turn when one cannot.
package fallback

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
)

// An Link is an [agent.Player], and who it is.
type Link struct {
	agent.Player
	Ref loop.AgentRef
	// Ask finds out, without a turn, what keeps the agent from working: an ending
	// and a sentence's end, which is "" when nothing is found. nil: nobody can tell.
	Ask func(context.Context) (loop.Ending, string)
}

// A Chain is an [agent.Player] that begins a new conversation if one cannot be
// continued, and takes the next of its agents if one cannot go on. That agent plays the
// turn again, in the work tree as it is, and all later turns. If the last one cannot go
// on either, the turn ends as its first try did, and the next turn begins with the first
// agent again.
//
// A turn that fails within seconds and without any work may be one of an agent that
// cannot go on and says so in unknown words. It is played once more; if that fails too,
// Ask finds out what keeps the agent from working.
//
// A Chain is as safe for concurrent use as its agents. Turns at the same time begin with
// the same agent, and each takes the next one by itself.
type Chain struct {
	Links []Link // at least one, the preferred one first

	mu   sync.Mutex // guards what follows
	next place      // where the next turn begins
}

// A place is how far a turn has come in a chain.
type place struct {
	at     int // whose turn it is
	hollow int // how many of its turns in a row have failed, up to now
}

// Run plays a turn. Its misses are the tries before the one that is returned.
// The watch is told of every change.
func (c *Chain) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	var tries []agent.Reply
	for p := c.begins(); ; r.Leg++ {
		link := c.Links[p.at]
		reply, nothing, err := link.play(ctx, r)
		if p.hollow++; !nothing {
			p.hollow = 0
		}
		c.leave(p.at, p)
		reply.Misses = misses(tries)
		if err != nil || ctx.Err() != nil {
			return reply, err
		}
		out := p.hollow > 1 && link.ails(ctx, &reply)
		switch {
		case lost(reply):
			tell(r, fmt.Sprintf("%s could not carry on its conversation (%s): it begins a new one", reply.Agent.Agent, why(reply.Turn)))
			r.Conversation = loop.Conversation{}
		case p.hollow == 1:
			tell(r, fmt.Sprintf("%s came to nothing at once (%s): it is asked once more", reply.Agent.Agent, why(reply.Turn)))
		case !out && !Stops(reply.Turn):
			return reply, nil
		case p.at == len(c.Links)-1:
			c.leave(p.at, place{})
			return settle(append(tries, reply)), nil
		default:
			p = place{at: p.at + 1}
			c.leave(p.at-1, p)
			tell(r, fmt.Sprintf("%s cannot go on (%s): %s takes over", reply.Agent.Agent, why(reply.Turn), c.Links[p.at].Ref.Agent))
		}
		tries = append(tries, reply)
	}
}

func (c *Chain) begins() place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}

// leave says where the next turn begins, unless one at the same time has found that it is no
// more with the agent that this one was with.
func (c *Chain) leave(at int, next place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next.at == at {
		c.next = next
	}
}

// soon is how fast a turn ends of an agent that cannot work at all.
const soon = 30 * time.Second

// play plays a turn, and reports whether it came to nothing where somebody can tell why.
func (l Link) play(ctx context.Context, r agent.Request) (reply agent.Reply, nothing bool, err error) {
	worked, watch := false, r.Watch
	r.Watch = func(n loop.Notice) {
		switch n.Kind {
		case loop.NoticeMessage, loop.NoticeTool, loop.NoticeCommand, loop.NoticeEdit:
			worked = true
		case loop.NoticeOutput, loop.NoticeProblem, loop.NoticeLook, loop.NoticeChange:
		}
		if watch != nil {
			watch(n)
		}
	}
	reply, err = l.Run(ctx, r)
	return reply, l.Ask != nil && !worked && hollow(reply), err
}

// hollow reports whether a turn failed at once, before a model was asked.
func hollow(r agent.Reply) bool {
	return r.Ending == loop.EndFailed && r.Duration < soon && unasked(r) && !r.Answered
}

// ails asks what keeps the agent from working, and reports whether there is something.
func (l Link) ails(ctx context.Context, reply *agent.Reply) bool {
	ending, found := l.Ask(ctx)
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

// lost reports whether a conversation could not be continued: the CLI failed
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

// settle chooses the result of a turn when no agent is left: its first try by an agent
// that could not go on, as that is what a person wants to know. The others become its
// misses.
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

func misses(tries []agent.Reply) []loop.Try {
	var all []loop.Try
	for _, t := range tries {
		all = append(all, t.Try)
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

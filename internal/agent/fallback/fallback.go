// Package fallback lets the next agent take over a turn when one cannot go on.
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

// A Link is a named [agent.Player].
type Link struct {
	agent.Player
	Ref loop.AgentRef
	// Diagnose finds out, without a turn, what keeps the agent from working. It returns an
	// ending and the end of a sentence, "" if it finds nothing. May be nil.
	Diagnose func(context.Context) (loop.Ending, string)
}

// A Chain is an [agent.Player] that begins a new conversation if one cannot be continued,
// and switches to the next agent if one cannot go on. That agent plays the turn again, in
// the work tree as it is, and all later turns. If the last agent cannot go on either, the
// turn ends as its first try did, and the next turn begins with the first agent again.
//
// A turn that fails within seconds and without any work may mean that the agent cannot go
// on and says so in unknown words. It is played once more; if that fails too, Diagnose finds
// out what keeps the agent from working.
//
// A Chain is as safe for concurrent use as its agents. Concurrent turns begin with the
// same agent, and each switches by itself.
type Chain struct {
	Links []Link // at least one, the preferred one first

	mu   sync.Mutex // guards what follows
	next place      // where the next turn begins
}

// A place is a position in the chain.
type place struct {
	at     int // index of the agent
	futile int // how many of its turns in a row have failed without any work
}

// Run plays a turn. The reply's misses are the tries before it. The watch is told of every
// change.
func (c *Chain) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	var tries []agent.Reply
	for p := c.begins(); ; r.Leg++ {
		link := c.Links[p.at]
		reply, futile, err := link.play(ctx, r)
		if p.futile++; !futile {
			p.futile = 0
		}
		c.setNext(p.at, p)
		reply.Misses = misses(tries)
		if err != nil || ctx.Err() != nil {
			return reply, err
		}
		out := p.futile > 1 && link.diagnose(ctx, &reply)
		switch {
		case lost(reply):
			tell(r, fmt.Sprintf("%s could not carry on its conversation (%s): it begins a new one", reply.Agent.Agent, why(reply.Turn)))
			r.Conversation = loop.Conversation{}
		case p.futile == 1:
			tell(r, fmt.Sprintf("%s failed at once without doing anything (%s): it is asked again", reply.Agent.Agent, why(reply.Turn)))
		case !out && !stops(reply.Turn):
			return reply, nil
		case p.at == len(c.Links)-1:
			c.setNext(p.at, place{})
			return settle(append(tries, reply)), nil
		default:
			p = place{at: p.at + 1}
			c.setNext(p.at-1, p)
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

// setNext sets where the next turn begins, unless a concurrent turn has already moved on
// from the agent that this one was with.
func (c *Chain) setNext(at int, next place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next.at == at {
		c.next = next
	}
}

// soon is how fast a turn ends if the agent cannot work at all.
const soon = 30 * time.Second

// play plays a turn, and reports whether it failed without any work, if Diagnose can tell why.
func (l Link) play(ctx context.Context, r agent.Request) (reply agent.Reply, futile bool, err error) {
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
	return reply, l.Diagnose != nil && !worked && failedAtOnce(reply), err
}

// failedAtOnce reports whether a turn failed within seconds and before a model was asked.
func failedAtOnce(r agent.Reply) bool {
	return r.Ending == loop.EndFailed && r.Duration < soon && unasked(r) && !r.Answered
}

// diagnose reports whether something keeps the agent from working, and adds it to the
// reply.
func (l Link) diagnose(ctx context.Context, reply *agent.Reply) bool {
	ending, found := l.Diagnose(ctx)
	if found == "" || ctx.Err() != nil {
		return false
	}
	reply.Ending, reply.Reason = ending, strings.TrimPrefix(reply.Reason+"; "+found, "; ")
	return true
}

// stops reports whether a turn ended so that its agent cannot go on but another one may:
// it is not signed in or not allowed to work, its limit or its service was not worth
// waiting for, or the prompt is too long for its model.
func stops(t loop.Turn) bool {
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

// unasked reports whether the model said nothing and used no tokens.
func unasked(r agent.Reply) bool {
	t := r.Usage.Tokens
	return (t == nil || r.Usage.TokensEstimated || *t == loop.Tokens{}) && strings.TrimSpace(r.Stdout.Text) == ""
}

// settle chooses the result of a turn when no agent is left: the first try by an agent
// that could not go on, because that is what the user wants to know. The others become
// its misses.
func settle(tries []agent.Reply) agent.Reply {
	first := 0
	for (lost(tries[first]) || !stops(tries[first].Turn)) && first < len(tries)-1 {
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

// why says in a few words what went wrong.
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

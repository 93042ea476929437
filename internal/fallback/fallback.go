// Package fallback plays a turn by other means when an agent cannot play it.
package fallback

import (
	"context"
	"fmt"
	"strings"

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
}

// A Chain is a Player that goes on with a new conversation where one cannot be
// carried on, and with the next of its agents where one cannot go on. That
// agent plays the turn again, in the work tree as it stands, and all turns after
// it. When the last one cannot go on either, the turn ends as its first try did,
// and the next turn begins with the first agent again. It is not safe for
// concurrent use.
type Chain struct {
	Agents []Agent // at least one, the preferred one first

	at int // whose turn it is
}

// Run plays a turn. Its misses are the tries before the one that is returned.
// The watch is told of every change.
func (c *Chain) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	var tries []agent.Reply
	for ; ; r.Leg++ {
		reply, err := c.Agents[c.at].Run(ctx, r)
		reply.Misses = misses(tries)
		if err != nil || ctx.Err() != nil {
			return reply, err
		}
		switch {
		case lost(reply):
			tell(r, fmt.Sprintf("%s could not carry on its conversation (%s): it begins a new one", reply.Agent.Agent, why(reply.Turn)))
			r.Conversation = loop.Conversation{}
		case !Stops(reply.Turn):
			return reply, nil
		case c.at == len(c.Agents)-1:
			c.at = 0
			return settle(append(tries, reply)), nil
		default:
			c.at++
			tell(r, fmt.Sprintf("%s cannot go on (%s): %s takes over", reply.Agent.Agent, why(reply.Turn), c.Agents[c.at].Ref.Agent))
		}
		tries = append(tries, reply)
	}
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
	t := r.Usage.Tokens
	unasked := (t == nil || r.Usage.TokensEstimated || *t == loop.Tokens{}) && strings.TrimSpace(r.Stdout.Text) == ""
	return r.Ending == loop.EndContextTooLong || r.Ending == loop.EndFailed && unasked
}

// settle chooses, when nobody is left, how the turn ended: as its first try by
// an agent that could not go on, whose end a person will want to know. The
// others become its misses.
func settle(tries []agent.Reply) agent.Reply {
	first := 0
	for lost(tries[first]) && first < len(tries)-1 {
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

package agent

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// A Request is one turn to play.
type Request struct {
	ID        string    // the turn's; see [loop.Turn.ID]
	Step      loop.Step // what the turn is, in the course of its run
	Role      loop.Role // names the turn and decides nothing: a plain name
	Access    loop.Access
	Iteration int
	Repeat
	Prompt  string
	Dir     string  // where the agent works, absolute; "" is its place's
	Starter Starter // starts it; nil is its place's
	// Conversation is to be continued, where it is one of this agent's that it
	// can continue; otherwise the turn begins a new one.
	Conversation loop.Conversation
	Watch        loop.Watch // told of whole lines as they come; may be nil
}

// A Repeat tells the times apart that something much the same is asked. All its numbers
// are 0 at first.
type Repeat struct {
	Ask int // 1 for the second time that the role is asked in an iteration, and so on
	Try int // 1 when the very same request is made again, and so on
	Leg int // 1 when another agent, or a new conversation, has taken the turn over, and so on
}

// A Player plays one turn. However the turn ends is a reply; an error means that
// there was none. An [Agent] is one, and so is what stands around agents.
type Player interface {
	Run(context.Context, Request) (Reply, error)
}

// check refuses names that cannot be part of the names of files.
func (r Request) check() error {
	if r.Role != "" && !named(string(r.Role)) {
		return fmt.Errorf("%q cannot be the name of a role: use letters, digits, '.', '_' and '-'", r.Role)
	}
	if r.Step != "" && !named(string(r.Step)) {
		return fmt.Errorf("%q cannot be the name of a step: use letters, digits, '_' and '-', and dots between its parts", r.Step)
	}
	return nil
}

// name names the files of the turn, in the order of the iterations: by its role or,
// where that does not tell it from others, by its step.
func (r Request) name() string {
	ask := ""
	if r.Ask > 0 {
		ask = fmt.Sprintf("-%d", r.Ask)
	}
	what := string(r.Role) + ask
	within := strings.TrimPrefix(string(r.Step), strconv.Itoa(r.Iteration)+".")
	if within != "" && within != string(r.Role) && within != string(r.Role)+"."+strconv.Itoa(r.Ask+1) {
		what = within + ask
	}
	return fmt.Sprintf("%03d.%s", r.Iteration, what) + r.again()
}

// again tells the tries at one turn apart; "" is the first.
func (r Repeat) again() (suffix string) {
	if r.Leg > 0 {
		suffix = fmt.Sprintf(".leg%d", r.Leg)
	}
	if r.Try > 0 {
		suffix += fmt.Sprintf(".try%d", r.Try)
	}
	return suffix
}

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
	Step      loop.Step // the turn's place in the run
	Role      loop.Role // a plain name, which decides nothing
	Access    loop.Access
	Iteration int
	Repeat
	Prompt  string
	Dir     string  // the working directory, absolute; "": the place's
	Starter Starter // nil: the place's
	// Conversation is continued if the agent can do that; otherwise the turn begins a
	// new one.
	Conversation loop.Conversation
	Watch        loop.Watch // may be nil
}

// A Repeat distinguishes repetitions of a turn. Its numbers count from 0.
type Repeat struct {
	Ask int // how often the role was asked before in this iteration
	Try int // how often the very same request was made before
	Leg int // how often another agent, or a new conversation, has taken the turn over
}

// A Player plays one turn. However the turn ends, that is a reply; an error means that
// there is none. An [Agent] is a Player, and so are the packages that wrap agents.
type Player interface {
	Run(context.Context, Request) (Reply, error)
}

// check rejects names that cannot be part of file names.
func (r Request) check() error {
	if r.Role != "" && !isName(string(r.Role)) {
		return fmt.Errorf("%q cannot be the name of a role: use letters, digits, '.', '_' and '-'", r.Role)
	}
	if r.Step != "" && !isName(string(r.Step)) {
		return fmt.Errorf("%q cannot be the name of a step: use letters, digits, '_' and '-', and dots between its parts", r.Step)
	}
	return nil
}

// name returns the prefix of the turn's files, which sorts by iteration. It holds the
// role or, if that is not unique, the step.
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

// again is a suffix that distinguishes the tries at one turn; "" for the first.
func (r Repeat) again() (suffix string) {
	if r.Leg > 0 {
		suffix = fmt.Sprintf(".leg%d", r.Leg)
	}
	if r.Try > 0 {
		suffix += fmt.Sprintf(".try%d", r.Try)
	}
	return suffix
}

package critic

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/critique"
	"codeloops/internal/loop"
	"codeloops/internal/plain"
	"codeloops/internal/template"
)

// An Agent plays one turn. However the turn ends is a reply; an error means
// that there was none. [agent.Agent] is one.
type Agent interface {
	Run(context.Context, agent.Request) (agent.Reply, error)
}

// A Worktree makes a copy of the work tree as a change left it.
type Worktree interface {
	// Make returns the directory to work in.
	Make(context.Context, loop.Change) (dir string, err error)
	// Remove removes the copy.
	Remove() error
}

// A Critic is a [loop.Critic] that asks an agent. It is not safe for concurrent
// use.
type Critic struct {
	Agent Agent
	// Dir is where a diff too large for the prompt is written whole, as
	// "<iteration, three digits>.diff", and a list of places as "….places";
	// absolute, made when it is missing.
	Dir string
	// Random gives the names of the boundaries and the seals, which an actor
	// must not be able to guess; nil is [rand.Reader].
	Random io.Reader
	// Contract is what a verdict must keep; one that does not is asked for
	// again.
	Contract critique.Contract
	// Template is what the agent is asked; nil is codeloops' own words.
	Template template.Template
	// Budget bounds the prompt; the zero value is [DefaultBudget].
	Budget Budget
	// Worktree, when it is not nil, has a copy of the work tree for every turn,
	// in which the agent works and may do what it likes.
	Worktree Worktree

	iteration, asks int  // the last iteration judged, and how often
	last            seal // of the last prompt
}

var _ loop.Critic = (*Critic)(nil)

// Judge asks the agent about a case. A turn that failed or was cut gives no
// verdict, whatever it printed. When the context is done, the error is its
// cause.
func (c *Critic) Judge(ctx context.Context, matter loop.Case, watch loop.Watch) (loop.Review, error) {
	asked, err := c.prompt(matter)
	if err != nil {
		return loop.Review{}, err
	}
	reply, err := c.play(ctx, matter, agent.Request{
		ID: matter.ID, Role: loop.RoleCritic, Iteration: matter.Iteration, Ask: c.ask(matter.Iteration), Prompt: asked.text, Watch: watch,
	})
	review := loop.Review{Turn: reply.Turn, Reply: reply.Text, Seal: string(asked.seal), Boundary: string(asked.boundary)}
	if ctx.Err() != nil {
		return review, context.Cause(ctx)
	}
	if err != nil {
		return review, err
	}
	if review.Problem = failure(reply); review.Problem != "" {
		return review, nil
	}
	Read(&review, matter, c.Contract)
	return review, nil
}

// play plays a turn, in a copy of the work tree where there is to be one.
func (c *Critic) play(ctx context.Context, matter loop.Case, r agent.Request) (reply agent.Reply, err error) {
	if c.Worktree == nil {
		return c.Agent.Run(ctx, r)
	}
	if r.Dir, err = c.Worktree.Make(ctx, matter.Change); err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, c.Worktree.Remove()) }()
	return c.Agent.Run(ctx, r)
}

// ask counts how often an iteration has been judged before.
func (c *Critic) ask(iteration int) int {
	if c.iteration != iteration {
		c.iteration, c.asks = iteration, -1
	}
	c.asks++
	return c.asks
}

// asking is a prompt with the random words in it.
type asking struct {
	text     string
	boundary boundary
	seal     seal
}

// prompt writes the prompt and the files that hold whole what is cut in it.
func (c *Critic) prompt(matter loop.Case) (a asking, err error) {
	budget := c.Budget
	if budget == (Budget{}) {
		budget = DefaultBudget()
	}
	p := prompt{whole: filepath.Join(c.Dir, fmt.Sprintf("%03d", matter.Iteration))}
	c.compose(&p, matter, budget)
	if err := c.keep(p, matter); err != nil {
		return a, fmt.Errorf("write what is cut in the prompt for the critic: %w", err)
	}
	random := c.Random
	if random == nil {
		random = rand.Reader
	}
	if a.boundary, err = drawBoundary(random, p.texts()); err != nil {
		return a, err
	}
	if a.seal, err = drawSeal(random, p.texts()); err != nil {
		return a, err
	}
	c.last = a.seal
	p.form(c.Contract, a.seal, matter.Objection != nil, loop.Due(matter.History))
	a.text = p.render(a.boundary)
	return a, nil
}

// keep writes what the prompt says stands in files.
func (c *Critic) keep(p prompt, matter loop.Case) error {
	for _, file := range []struct {
		cut  bool
		name string
		text func() string
	}{
		{p.cutDiff, p.wholeDiff(), matter.Change.Patch},
		{p.cutUnshown, p.wholeUnshown(), func() string { return wholeOf(matter.Change.Unshown) }},
		{p.cutPlaces, p.wholeList(), func() string { return loop.Listing(matter.Inspection.Concerns) }},
	} {
		if !file.cut {
			continue
		}
		if err := os.MkdirAll(c.Dir, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file.name, []byte(file.text()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// failure says why a turn cannot be used, before anything in it is read: agents
// print old and half answers when they fail.
func failure(r agent.Reply) string {
	switch {
	case r.Ending.Cut():
		return "the critic's turn " + ended(r.Ending, r.ExitCode)
	case r.ExitCode != 0 || r.Ending != loop.EndCompleted:
		return "the critic's turn " + ended(r.Ending, r.ExitCode) + lastWords(r.Turn)
	case strings.TrimSpace(plain.Text(r.Text)) == "":
		return "the critic's turn ended with exit code 0, but it printed no answer" + lastWords(r.Turn)
	}
	return ""
}

// lastWords is what a failed agent says of it, or the last line of its stderr,
// which mostly says why.
func lastWords(t loop.Turn) string {
	said := t.Reason
	if said == "" {
		said = t.Stderr.Text
	}
	said = strings.TrimSpace(plain.Text(said))
	line := strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:])
	if line == "" {
		return ""
	}
	return ": " + quoteUpTo(line, 300) // it mostly says what to do
}

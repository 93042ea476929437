// Package critic judges an actor's work by asking an agent: it lays out the evidence,
// plays the turn and has package verdict read the reply.
package critic

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
	"codeloops/internal/role"
	"codeloops/internal/role/prompt"
	"codeloops/internal/role/verdict"
	"codeloops/internal/wording"
)

// A Critic is a [loop.Critic] that asks an agent. It is not safe for concurrent
// use.
type Critic struct {
	role.Guarded
	// Role is that of a member of a panel; "": it is the one critic.
	Role loop.Role
	// Dir is where a diff too large for the prompt is written whole, as
	// "<iteration, three digits>.diff", and a list of places as "….places";
	// absolute, made when it is missing.
	Dir string
	// Random gives the names of the boundaries and the seals, which an actor
	// must not be able to guess; nil is [rand.Reader].
	Random io.Reader
	// Contract is what a verdict must keep; one that does not is asked for
	// again.
	Contract verdict.Contract
	// Template is what the agent is asked; nil is codeloops' own words.
	Template prompt.Template
	// Budget bounds the prompt; the zero value is [DefaultBudget].
	Budget Budget
	// Free: the agent may build and test.
	Free bool

	iteration, asks int          // the last iteration judged, and how often
	last            verdict.Seal // of the last prompt
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
	reply, written, err := c.Play(ctx, agent.Request{
		ID: matter.ID, Step: matter.Step, Role: cmp.Or(c.Role, loop.RoleCritic), Access: loop.ReadOnly, Iteration: matter.Iteration, Repeat: agent.Repeat{Ask: c.ask(matter.Iteration)}, Prompt: asked.text, Watch: watch,
	})
	review := loop.Review{Turn: reply.Turn, Reply: reply.Text, Seal: string(asked.seal), Boundary: string(asked.boundary), Written: written}
	if ctx.Err() != nil {
		return review, context.Cause(ctx)
	}
	if err != nil {
		return review, err
	}
	if review.Problem = failure(reply); review.Problem != "" {
		return review, nil
	}
	verdict.Read(&review, matter, c.Contract)
	return review, nil
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
	boundary prompt.Boundary
	seal     verdict.Seal
}

// prompt writes the prompt and the files that hold whole what is cut in it.
func (c *Critic) prompt(matter loop.Case) (a asking, err error) {
	name := fmt.Sprintf("%03d", matter.Iteration)
	if c.Role != "" { // others write at the same time
		name += "." + string(c.Role)
	}
	d := draft{budget: cmp.Or(c.Budget, DefaultBudget()), whole: filepath.Join(c.Dir, name)}
	c.compose(&d, matter)
	if err := c.keep(d.kept); err != nil {
		return a, fmt.Errorf("write what is cut in the prompt for the critic: %w", err)
	}
	random := cmp.Or(c.Random, rand.Reader)
	if a.boundary, err = prompt.DrawBoundary(random, d.texts()); err != nil {
		return a, err
	}
	if a.seal, err = verdict.DrawSeal(random, d.texts()); err != nil {
		return a, err
	}
	c.last = a.seal
	d.form(c.Contract, a.seal, matter.Objection != nil, loop.Due(matter.History))
	a.text = d.render(a.boundary)
	return a, nil
}

// keep writes the files that the prompt refers to.
func (c *Critic) keep(files []keptFile) error {
	for _, f := range files {
		if err := os.MkdirAll(c.Dir, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(f.path, []byte(f.text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// failure says why a turn cannot be used, "" if it can. It comes before anything is
// read: failing agents print old and half answers.
func failure(r agent.Reply) string {
	switch {
	case r.Ending.Cut():
		return "the critic's turn " + prompt.Ended(r.Ending, r.ExitCode)
	case r.ExitCode != 0 || r.Ending != loop.EndCompleted:
		return "the critic's turn " + prompt.Ended(r.Ending, r.ExitCode) + lastWords(r.Turn)
	case strings.TrimSpace(wording.Clean(r.Text)) == "":
		return "the critic's turn ended with exit code 0, but it printed no answer" + lastWords(r.Turn)
	}
	return ""
}

// lastWords is the reason that a failed agent gives, or the last line of its stderr.
func lastWords(t loop.Turn) string {
	said := strings.TrimSpace(wording.Clean(cmp.Or(t.Reason, t.Stderr.Text)))
	line := strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:])
	if line == "" {
		return ""
	}
	return ": " + wording.Quote(line, 300) // it mostly says what to do
}

// Evidence puts a question about a case, which is laid out as for the critic. It may be
// called from several goroutines.
func (c *Critic) Evidence(question string, matter loop.Case) (string, error) {
	d := draft{budget: cmp.Or(c.Budget, DefaultBudget()), whole: filepath.Join(c.Dir, string(matter.Step))}
	d.sayf("%s", question)
	d.task(matter.Task)
	if matter.Attempt.Ending != "" { // there is work
		d.turn(matter.Attempt)
		d.printed(matter.Attempt)
		d.change(matter.Change)
	}
	d.concerns(matter.Inspection.Concerns)
	d.checks(matter.Checks)
	d.opinions(matter.Opinions)
	d.sayf("%s", c.place())
	d.sayf("Now answer, in the form that the beginning of this prompt asks for.")
	if err := c.keep(d.kept); err != nil {
		return "", fmt.Errorf("write what is cut in a prompt: %w", err)
	}
	boundary, err := prompt.DrawBoundary(cmp.Or(c.Random, rand.Reader), d.texts())
	if err != nil {
		return "", err
	}
	return d.render(boundary), nil
}

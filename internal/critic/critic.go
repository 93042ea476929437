// Package critic judges an actor's work by asking an agent: it presents the evidence,
// plays the turn and reads the reply with package verdict.
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
	"codeloops/internal/agent/seat"
	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// A Critic is a [loop.Critic] that asks an agent. It is not safe for concurrent use.
type Critic struct {
	seat.ReadOnlyPlayer
	// Role is the role of a panel's member; "" for the only critic.
	Role loop.Role
	// Dir receives the whole text of what is cut in the prompt, such as the diff in
	// "<iteration, three digits>.diff" and the list of places in "….places". It is
	// absolute, and created if missing.
	Dir string
	// Random is the source of boundaries and seals, which an actor must not be able
	// to guess; nil is [rand.Reader].
	Random io.Reader
	// Policy is what a verdict must satisfy; otherwise the critic is asked again.
	Policy loop.Policy
	// Template is the prompt; nil is codeloops' own. Instructions are what the user says in addition.
	Template     prompt.Template
	Instructions string
	// Budget limits the prompt; the zero value is [defaultBudget].
	Budget Budget
	// Free allows the agent to build and test.
	Free bool
	// Tests returns the files with tests in a change; nil: the prompt does not point at them.
	Tests func(loop.Change) []loop.Place

	iteration, asks int          // the last iteration judged, and how often
	last            verdict.Seal // of the last prompt
}

var _ loop.Critic = (*Critic)(nil)

// Judge asks the agent about a case. A turn that failed or was cut off gives no verdict,
// whatever it printed. When the context is done, the error is its cause.
func (c *Critic) Judge(ctx context.Context, matter loop.Case, watch loop.Watch) (loop.Review, error) {
	text, review, err := c.prompt(matter)
	if err != nil {
		return loop.Review{}, err
	}
	reply, written, err := c.Play(ctx, agent.Request{
		ID: matter.ID, Step: matter.Step, Role: cmp.Or(c.Role, loop.RoleCritic), Access: loop.ReadOnly, Iteration: matter.Iteration, Repeat: agent.Repeat{Ask: c.ask(matter.Iteration)}, Prompt: text, Watch: watch,
	})
	review.Turn, review.Reply, review.Written, review.SealOnly = reply.Turn, reply.Text, written, reply.SealOnly
	if ctx.Err() != nil {
		return review, context.Cause(ctx)
	}
	if err != nil {
		return review, err
	}
	if review.Problem = failure(reply); review.Problem != "" {
		return review, nil
	}
	verdict.Read(&review, matter, c.Policy)
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

// prompt writes the prompt, and the files with the whole text of what is cut in it. The
// review has the random words of the prompt.
func (c *Critic) prompt(matter loop.Case) (text string, asked loop.Review, err error) {
	name := fmt.Sprintf("%03d", matter.Iteration)
	if c.Role != "" { // the other members write at the same time
		name += "." + string(c.Role)
	}
	d := draft{budget: cmp.Or(c.Budget, defaultBudget()), whole: filepath.Join(c.Dir, name)}
	c.compose(&d, matter)
	if err := c.keep(d.kept); err != nil {
		return "", asked, fmt.Errorf("write what is cut in the prompt for the critic: %w", err)
	}
	random := cmp.Or(c.Random, rand.Reader)
	boundary, err := prompt.DrawBoundary(random, d.texts())
	if err != nil {
		return "", asked, err
	}
	if c.last, err = verdict.DrawSeal(random, d.texts()); err != nil {
		return "", asked, err
	}
	d.form(c.Policy, c.last, matter.Objection != nil, loop.Due(matter.History))
	return d.render(boundary), loop.Review{Boundary: string(boundary), Seal: string(c.last)}, nil
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

// failure says why a turn cannot be used, "" if it can. It is checked before the reply is
// read, because failing agents print old or partial answers.
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

// lastWords returns the reason that a failed agent gives, or the last line of its stderr.
func lastWords(t loop.Turn) string {
	said := strings.TrimSpace(wording.Clean(cmp.Or(t.Reason, t.Stderr.Text)))
	line := strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:])
	if line == "" {
		return ""
	}
	return ": " + wording.Quote(line, 300) // long enough for the advice that it often has
}

// Evidence writes a prompt with a question about a case, which is presented as for the
// critic. It is safe for concurrent use.
func (c *Critic) Evidence(question string, matter loop.Case) (string, error) {
	d := draft{budget: cmp.Or(c.Budget, defaultBudget()), whole: filepath.Join(c.Dir, string(matter.Step))}
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

package scripted

import (
	"bytes"
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"codeloops/internal/proc"
)

// processActions start processes, or change how this one dies.
func processActions() []action {
	return []action{
		{"run", run},
		{"commit", func(t *table) step {
			message := t.text("commit")
			return func(ctx context.Context, p *player) error { return p.commit(ctx, message) }
		}},
		{"spawn", spawn},
		{"ignore_term", func(t *table) step {
			must(t, "ignore_term")
			return func(context.Context, *player) error {
				signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
				return nil
			}
		}},
	}
}

// run runs a shell command that the agent waits for. Its exit code does not matter: agents run
// failing tests all the time.
func run(t *table) step {
	command, hide, reads, ownSession := t.text("run"), t.flag("hide", false), t.flag("prompt", false), t.flag("own_session", false)
	return func(ctx context.Context, p *player) error {
		c := p.shell(command)
		c.OwnSession = ownSession
		if reads {
			c.Stdin = bytes.NewReader(p.prompt)
		}
		if hide {
			c.Stdout, c.Stderr = nil, nil
		}
		_, err := c.Run(ctx)
		return err
	}
}

// spawn starts a process that outlives the agent, and may keep its stdout and stderr open.
func spawn(t *table) step {
	command, holdOutput, ownSession := t.text("spawn"), t.flag("hold_output", false), t.flag("own_session", false)
	return func(_ context.Context, p *player) error {
		c := p.shell(command)
		c.OwnSession = ownSession
		if !holdOutput {
			c.Stdout, c.Stderr = nil, nil
		}
		return c.Start() //nolint:contextcheck // it outlives the turn that starts it
	}
}

// commit commits everything in the work tree.
func (p *player) commit(ctx context.Context, message string) error {
	for _, args := range [][]string{
		{"add", "--all"},
		// Signing could ask for a passphrase. The user's hooks do run.
		{"-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "--message", message},
	} {
		c := proc.Tool{
			Argv: append([]string{"git"}, args...),
			Env: []string{
				"GIT_AUTHOR_NAME=Scripted Agent", "GIT_AUTHOR_EMAIL=scripted-agent@example.invalid",
				"GIT_COMMITTER_NAME=Scripted Agent", "GIT_COMMITTER_EMAIL=scripted-agent@example.invalid",
			},
			Stdout: p.stderr, Stderr: p.stderr,
		}
		code, err := c.Run(ctx)
		if err == nil && code != 0 {
			err = fmt.Errorf("git ended with exit code %d", code)
		}
		if err != nil {
			return fmt.Errorf("commit %q: %w", message, err)
		}
	}
	return nil
}

// shell is a command with the agent's own directory, environment and output.
func (p *player) shell(command string) proc.Tool {
	return proc.Tool{Argv: []string{"sh", "-c", command}, Stdout: p.stdout, Stderr: p.stderr}
}

// output runs a command and returns what it printed, and whether its exit code was 0.
func (p *player) output(ctx context.Context, command string) (string, bool, error) {
	var both bytes.Buffer
	c := p.shell(command)
	c.Stdout, c.Stderr = &both, &both
	code, err := c.Run(ctx)
	return both.String(), code == 0, err
}

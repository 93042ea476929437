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
		{"run", func(t *table) step {
			return run{
				command: t.text("run"), hide: t.flag("hide", false),
				prompt: t.flag("prompt", false), ownSession: t.flag("own_session", false),
			}
		}},
		{"commit", func(t *table) step { return commit(t.text("commit")) }},
		{"spawn", func(t *table) step {
			return spawn{
				command:    t.text("spawn"),
				holdOutput: t.flag("hold_output", false), ownSession: t.flag("own_session", false),
			}
		}},
		{"ignore_term", func(t *table) step {
			must(t, "ignore_term")
			return ignoreTerm{}
		}},
	}
}

// A run is a shell command that the agent waits for. Its exit code does not
// matter: agents run failing tests all the time.
type run struct {
	command    string
	hide       bool
	prompt     bool // the command reads the prompt on its stdin
	ownSession bool
}

func (s run) do(ctx context.Context, p *player) error {
	c := p.shell(s.command)
	c.OwnSession = s.ownSession
	if s.prompt {
		c.Stdin = bytes.NewReader(p.prompt)
	}
	if s.hide {
		c.Stdout, c.Stderr = nil, nil
	}
	_, err := c.Run(ctx)
	return err
}

// A commit commits everything in the work tree.
type commit string

func (s commit) do(ctx context.Context, p *player) error {
	for _, args := range [][]string{
		{"add", "--all"},
		// Signing could ask for a passphrase. The user's hooks do run.
		{"-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "--message", string(s)},
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
			return fmt.Errorf("commit %q: %w", string(s), err)
		}
	}
	return nil
}

// A spawn is a process that outlives the agent.
type spawn struct {
	command    string
	holdOutput bool // it keeps the agent's stdout and stderr open
	ownSession bool
}

func (s spawn) do(_ context.Context, p *player) error {
	c := p.shell(s.command)
	c.OwnSession = s.ownSession
	if !s.holdOutput {
		c.Stdout, c.Stderr = nil, nil
	}
	return c.Start() //nolint:contextcheck // it outlives the turn that starts it
}

type ignoreTerm struct{}

func (ignoreTerm) do(context.Context, *player) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
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

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"codeloops/internal/proc"
)

// A Starter runs one command and leaves no process behind, even if codeloops is killed; [proc.Runner] is one.
type Starter interface {
	Run(context.Context, proc.Command) (proc.Result, error)
}

// A Git runs the git program with an environment. What it is asked runs no hook, monitor, prompt or background job of
// anybody, and signs nothing. A Git without a Starter is for what converts nothing, and so starts no filter.
type Git struct {
	Environ []string
	Starter Starter
}

// A Call is one run of the git program.
type Call struct {
	Dir      string
	Settings []string // "-c", "key=value"
	Args     []string
	Env      []string // "NAME=value", in addition
	Stdin    []byte
	Says     io.Writer // gets what git says on its standard error; may be nil. A Starter has no use for it
	Stdout   string    // with a Starter, a file for the output, of any size; "" returns it
}

// settings and variables keep the user's and the repository's own from running anything, and git from refusing what it
// would convert. Some output is parsed.
var settings = []string{ //nolint:gochecknoglobals // a constant
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.safecrlf=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "commit.gpgSign=false",
}

var variables = []string{ //nolint:gochecknoglobals // a constant
	"LANGUAGE=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=:", "GIT_LITERAL_PATHSPECS=0", "GIT_ICASE_PATHSPECS=0",
}

// Run returns what git prints. If it fails, the error is a [*proc.ExitError] with what it says.
func (g Git) Run(ctx context.Context, c Call) ([]byte, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	ctx, over := context.WithCancel(ctx)
	defer over()
	go unblocked(ctx, c.Dir)
	how := proc.Invocation{
		Argv: slices.Concat([]string{program}, settings, c.Settings, c.Args), Dir: c.Dir, Env: slices.Concat(g.Environ, variables, c.Env), Stdin: c.Stdin,
	}
	if g.Starter != nil {
		return g.start(ctx, how, c)
	}
	return proc.Output(ctx, proc.Call{Invocation: how, Says: c.Says})
}

// start is Run with a Starter.
func (g Git) start(ctx context.Context, how proc.Invocation, c Call) ([]byte, error) {
	const most, keepErrors = 64 << 20, 64 << 10
	limits := proc.Limits{MaxOutput: most, Keep: most}
	if c.Stdout != "" {
		limits = proc.Limits{Keep: keepErrors}
	}
	res, err := g.Starter.Run(ctx, proc.Command{Invocation: how, Records: proc.Records{Stdout: c.Stdout}, Limits: limits})
	name := "git " + c.Args[0]
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, proc.ErrNotFound):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case res.Stop == proc.StopOutputLimit || res.Stdout.Omitted > 0 && c.Stdout == "":
		return nil, fmt.Errorf("%s: %w", name, proc.ErrOutput)
	case res.ExitCode != 0:
		err = &proc.ExitError{Program: name, ExitCode: res.ExitCode, Stderr: string(bytes.TrimSpace(res.Stderr.Text))}
	}
	if c.Stdout != "" {
		return nil, err
	}
	return res.Stdout.Text, err
}

// In runs git in a directory.
func (g Git) In(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return g.Run(ctx, Call{Dir: dir, Args: args})
}

// UserSetting returns a setting of the user's or else the system's git configuration. That of the repository does not
// count: an agent may have written it.
func (g Git) UserSetting(ctx context.Context, dir, key string) (value string, set bool) {
	for _, scope := range []string{"--global", "--system"} {
		if out, err := g.In(ctx, dir, "config", scope, "--includes", "--get", key); err == nil {
			return strings.TrimSpace(string(out)), true
		}
	}
	return "", false
}

// Alone returns an environment in which neither variables nor settings of the user or the system count.
func Alone(environ []string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "GIT_TEST_") || strings.HasPrefix(v, "LANG") || strings.HasPrefix(v, "LC_")
	})
	return append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C")
}

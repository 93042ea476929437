package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
	"codeloops/internal/redact"
	"codeloops/internal/session"
	"codeloops/internal/term"
)

// app is what every command works with. main fills the exported stream fields,
// env and now; nothing below asks the process for them again.
type app struct {
	*term.Streams

	env []string
	now func() time.Time

	dir     string // working directory, absolute and free of symbolic links
	signals signals
	secrets *redact.Redactor
}

// run executes one command line and returns its exit code.
func (a *app) run(args []string) int {
	a.secrets = redact.New(a.env)
	ctx, stop := a.signals.watch(context.Background())
	defer stop()
	err := interrupted(ctx, a.execute(ctx, args))
	if err == nil {
		return exitDone
	}
	a.complain(args, err)
	return exitCode(err)
}

func (a *app) execute(ctx context.Context, args []string) (err error) {
	if a.dir, err = os.Getwd(); err == nil {
		a.dir, err = filepath.EvalSymlinks(a.dir) // it may be the shell's name for it
	}
	if err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}
	root := newRootCmd(a) //nolint:contextcheck // commands get theirs from ExecuteContext
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// complain tells the user what went wrong, unless a run has done so. With
// --json-output that is an object, whatever failed and however early.
func (a *app) complain(args []string, err error) {
	ended, told := errors.AsType[*endedError](err)
	if told && ended.err == nil || errors.Is(err, errDiffers) {
		return
	}
	if _, own := errors.AsType[agentExitError](err); own {
		return // the scripted agent has spoken for itself
	}
	report(a.Err, err, a.secrets)
	if !told && wantsJSON(args) {
		code := exitCode(err)
		doc := session.Result{Outcome: refused(err, code), ExitCode: code, Failure: a.failure(err)}
		_, _ = a.Out.Write(doc.Encode()) // nowhere left to say that this failed
	}
}

// refused is the outcome of a run that could not begin.
func refused(err error, code int) loop.Outcome {
	out := loop.Outcome{Result: loop.Failed, Reason: loop.StopInternal}
	_, missing := errors.AsType[*agent.NotFoundError](err)
	if _, nobody := errors.AsType[*nobodyError](err); missing || nobody {
		out.Reason = loop.StopAgentNotFound
	}
	if code == exitInterrupted {
		out.Result, out.Reason = loop.Interrupted, loop.StopInterrupted
	}
	out.Summary = err.Error()
	return out
}

// wantsJSON looks for --json-output in a command line that may not parse.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json-output") || slices.Contains(args, "--json-output=true")
}

func (a *app) getenv(name string) string {
	value, _ := a.lookupEnv(name)
	return value
}

// lookupEnv finds a variable in the environment that main took; the last of a
// name counts.
func (a *app) lookupEnv(name string) (string, bool) {
	for _, kv := range slices.Backward(a.env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// version is what the build knows of itself: the module's version, or the
// commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

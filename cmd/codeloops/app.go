package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"codeloops/internal/agent"
	"codeloops/internal/cli/signals"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/queue/board"
	"codeloops/internal/redact"
	"codeloops/internal/run/crew"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

// app is what every command works with. main fills the streams, the environment and
// the clock; nothing below asks the process for them again.
type app struct {
	*term.Streams
	host.Host

	args    []string // of the command line
	signals signals.Signals
	board   board.Options // of the queue; its leases are shorter in tests

	hub       string // where the queue is served, as the command line says
	recovered bool   // what a restore had left here was gone on with
}

// run executes one command line and returns its exit code.
func (a *app) run(args []string) int {
	a.Secrets = redact.New(a.Environ)
	ctx, stop := a.signals.Watch(context.Background())
	defer stop()
	err := interrupted(ctx, a.execute(ctx, args))
	if err == nil {
		return exitDone
	}
	a.complain(args, err)
	return exitCode(err)
}

func (a *app) execute(ctx context.Context, args []string) (err error) {
	if a.Dir, err = os.Getwd(); err == nil {
		a.Dir, err = filepath.EvalSymlinks(a.Dir) // it may be the shell's name for it
	}
	if err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}
	root := newRootCmd(a) //nolint:contextcheck // commands get theirs from ExecuteContext
	a.args = args
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// complain tells the user what went wrong, unless a run has done so. With
// --json-output that is an object, whatever failed and however early.
func (a *app) complain(args []string, err error) {
	ended, told := errors.AsType[*endedError](err)
	if told && ended.err == nil || errors.Is(err, errDiffers) || errors.Is(err, errUnmerged) {
		return
	}
	if _, own := errors.AsType[agentExitError](err); own {
		return // the scripted agent has spoken for itself
	}
	report(a.Err, err, a.Secrets)
	if !told && wantsJSON(args) {
		code := exitCode(err)
		doc := session.Result{Outcome: refused(err, code), ExitCode: code, Failure: failure(a, err)}
		_, _ = a.Out.Write(doc.Encode()) // nowhere left to say that this failed
	}
}

// refused is the outcome of a run that could not begin.
func refused(err error, code int) loop.Outcome {
	out := loop.Outcome{Result: loop.Failed, Reason: loop.StopInternal}
	_, missing := errors.AsType[*agent.NotFoundError](err)
	if _, nobody := errors.AsType[*crew.NobodyError](err); missing || nobody {
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

// version is what the build knows of itself: the module's version, or the
// commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"codeloops/internal/agent"
	"codeloops/internal/cli/signals"
	"codeloops/internal/command"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/queue/board"
	"codeloops/internal/redact"
	"codeloops/internal/run/crew"
	"codeloops/internal/screen/pager"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// An app runs one command line.
type app struct {
	*command.Console

	args    []string
	signals signals.Signals
	board   board.Options // of the queue; tests shorten its leases

	unhelped error // why --help could not be shown: cobra has no way for that
}

// run executes one command line and returns its exit code.
func (a *app) run(args []string) int {
	hook := isHook(args)
	if hook {
		bugsAreCrashes()
	}
	a.Secrets = redact.New(a.Environ)
	ctx, stop := a.signals.Watch(context.Background())
	defer stop()
	err := interrupted(ctx, a.execute(ctx, args))
	if err != nil && hook {
		return a.letGo(err)
	}
	if err == nil || a.unread(args, err) {
		return command.ExitDone
	}
	a.complain(args, err)
	return exitCode(err)
}

func (a *app) execute(ctx context.Context, args []string) (err error) {
	if a.Dir, err = os.Getwd(); err == nil {
		a.Dir, err = filepath.EvalSymlinks(a.Dir) // the shell may have a path with links in PWD
	}
	if err != nil {
		return hint.Add(fmt.Errorf("find the working directory: %w", err), "it may have been removed: go to another one")
	}
	a.Environ = git.WithoutOwn(a.Dir, a.Environ) // of the hook, alias or rebase that started codeloops
	root := newRootCmd(a)                        //nolint:contextcheck // commands get theirs from ExecuteContext
	addCompletion(root)
	a.args = args
	root.SetArgs(args)
	return cmp.Or(root.ExecuteContext(ctx), a.unhelped)
}

// unread reports whether an error only says that the reader of standard output has gone away, as head
// does. The JSON object of a run has to be read.
func (a *app) unread(args []string, err error) bool {
	lost, ok := errors.AsType[*fs.PathError](err)
	out, isFile := a.Out.(*os.File)
	return ok && isFile && lost.Path == out.Name() && pager.UnlessGone(lost) == nil && !wantsJSON(args)
}

// complain tells the user what went wrong, unless the run has done so. With
// --json-output it also prints a JSON object, even if the command line does not parse.
func (a *app) complain(args []string, err error) {
	ended, told := errors.AsType[*command.EndedError](err)
	if told && ended.Err == nil || errors.Is(err, command.ErrShort) {
		return
	}
	if _, own := errors.AsType[agentExitError](err); own {
		return // the scripted agent has printed its own message
	}
	a.Report(err)
	if !told && wantsJSON(args) {
		code := exitCode(err)
		doc := session.Result{Outcome: refused(err, code), ExitCode: code, Failure: failure(a, err)}
		_, _ = a.Out.Write(doc.Encode()) // there is nowhere left to report an error
	}
}

// refused is the outcome of a run that could not start.
func refused(err error, code int) loop.Outcome {
	out := loop.Outcome{Result: loop.Failed, Reason: loop.StopUsage}
	if errors.Is(err, agent.ErrNotInstalled) || errors.Is(err, crew.ErrNobody) {
		out.Reason = loop.StopAgentNotFound
	}
	if code == command.ExitInterrupted {
		out.Result, out.Reason = loop.Interrupted, loop.StopInterrupted
	}
	out.Summary = err.Error()
	return out
}

// wantsJSON looks for --json-output, or --json of the gate, in a command line that may not parse.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	gates := len(args) > 0 && args[0] == "gate" && slices.Contains(args, "--json")
	return gates || slices.Contains(args, "--json-output") || slices.Contains(args, "--json-output=true")
}

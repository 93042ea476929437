package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/cli/editor"
	"codeloops/internal/cli/problem"
	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/draft"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/ci"
	"codeloops/internal/screen/debuglog"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

// A runCommand is a run started from the command line.
type runCommand struct {
	app    *app
	opts   *runOptions
	plan   *run.Plan
	prompt string
	from   string         // where the prompt came from, for messages
	keys   *live.Keyboard // nil: nothing is drawn
	asked  *asked         // nil: no pull request is to be opened
	job    *ci.Log

	debug    *debuglog.Log // nil: there is none
	unlogged error         // why the debug log is incomplete
}

// runRun runs the loop, or with --dry-run describes the run.
func runRun(ctx context.Context, a *app, o *runOptions) (err error) {
	defer func() { a.refuse(o, err) }()
	if err := a.RequireUser(map[string]bool{"--trust-project": o.settings.Trusts()}); err != nil {
		return err
	}
	r := &runCommand{app: a, opts: o}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	defer r.plan.Close() //nolint:errcheck // write errors have been reported
	if o.dryRun {
		return r.describe(a.Out)
	}
	if err := r.confirm(ctx); err != nil {
		return err
	}
	if err := r.aim(ctx); err != nil {
		return err
	}
	r.introduce()
	return r.run(ctx)
}

// prepare reads the prompt and makes the plan.
func (r *runCommand) prepare(ctx context.Context) (err error) {
	a, o := r.app, r.options("")
	dir, err := worktree.RealDir(a.Path(o.Dir))
	if err != nil {
		return err
	}
	r.opts.prompt.Prompts = draft.In(&a.Host, dir)
	waiting := func() { fmt.Fprintln(a.Err, "waiting for the prompt") } //nolint:errcheck // a courtesy
	if !r.opts.edit || !r.opts.prompt.None() {                          // otherwise the editor starts empty
		if r.prompt, r.from, err = r.opts.prompt.Await(ctx, dir, a.In, waiting); err != nil {
			if ctx.Err() != nil && a.CanAsk() {
				_, _ = io.WriteString(a.Err, "\n") // the cursor is behind the typed text
			}
			return err
		}
	}
	var edited editor.Draft
	if r.opts.edit {
		if edited, err = r.write(ctx); err != nil {
			return err
		}
	}
	o.Prompt = r.prompt
	r.plan, err = run.Prepare(ctx, o)
	switch {
	case !r.opts.edit:
	case err == nil:
		edited.Drop()
	default:
		a.Tell("your text is kept in " + edited.File)
	}
	return err
}

// write lets the user write or edit the prompt in their editor.
func (r *runCommand) write(ctx context.Context) (editor.Draft, error) {
	a := r.app
	e := editor.Editor{Streams: a.Streams, Host: &a.Host}
	edited, err := e.Edit(ctx, r.prompt, howToAsk)
	if err != nil {
		return edited, err
	}
	r.prompt, r.from = edited.Text, "the editor"
	text, err := r.prompt, task.Check(r.prompt, "your text")
	if err == nil && r.opts.prompt.None() { // otherwise they are in the text already
		text, err = r.opts.prompt.Equipped(text, "your text")
	}
	if err != nil {
		edited.Drop()
		return edited, err
	}
	r.prompt = text
	return edited, nil
}

// howToAsk is shown below the text in the editor.
const howToAsk = `An empty text runs nothing.

Say what should be true when the work is done, and how to verify it: a command
that passes, a file that exists. The critic judges the work by these words.
codeloops help prompts says more.`

// options returns the options of the command line; ref is the session to resume, as typed.
func (r *runCommand) options(ref string) run.Options {
	a := r.app
	asks := &asker{Console: a.Console, ref: ref, yes: r.opts.yes, lend: r.lend}
	if r.opts.waits {
		asks.await = func(ctx context.Context) (string, error) { return r.plan.Control().Ask(ctx) }
	}
	return run.Options{
		Host: &a.Host, Version: command.Version(), Dir: r.opts.workingDir, Settings: r.opts.settings,
		Outputs: r.outputs(), Dropped: r.dropped,
		User: run.User{
			Ask: asks.ask, Alone: !a.CanAsk() && !r.opts.waits, Tell: a.Tell,
			Debug: func(sentence string) {
				if r.debug != nil {
					r.debug.Say(a.Now(), sentence)
				}
			},
		},
	}
}

// outputs returns the files that are written during the run: the debug log, and the one that progress is
// redirected to, as far as the system tells.
func (r *runCommand) outputs() map[string]string {
	files := map[string]string{}
	if r.opts.logFile != "" {
		files[r.app.Path(r.opts.logFile)] = "the debug log"
	}
	if f, ok := r.app.Err.(*os.File); ok && !r.opts.quiet && !r.opts.dryRun {
		if file, err := filepath.EvalSymlinks(f.Name()); err == nil {
			files[file] = "the progress"
		}
	}
	return files
}

// silent reports whether only the run's own output is shown.
func (r *runCommand) silent() bool {
	return r.opts.quiet || render.Format(r.plan.Config.LogFormat) == render.JSON
}

// introduce tells the user which agent was chosen if none is configured, what the critic cannot do, and whether the
// last session in the work tree broke off.
func (r *runCommand) introduce() {
	if r.silent() {
		return
	}
	p, w := r.plan, r.app.Err
	if who := p.Actor[0]; who.Unnamed && who.Spec.Name != p.Config.Actor.Agent {
		fmt.Fprintf(w, "no agent is configured: %s is the first one here (--agent, codeloops init)\n", who.Spec.Name) //nolint:errcheck // a courtesy
	}
	for _, caveat := range p.Critic[0].Caveats(p.Config) {
		fmt.Fprintf(w, "%s\n", caveat) //nolint:errcheck // a courtesy
	}
	if id, broke := p.BrokeOff(); broke {
		fmt.Fprintf(w, "session %s broke off: codeloops resume %s carries it on\n", id, id) //nolint:errcheck // a courtesy
	}
}

// run executes the plan, shows it, and maps its outcome to an exit error.
func (r *runCommand) run(ctx context.Context) error {
	var out loop.Outcome
	defer r.over(&out)
	defer r.open(ctx)()
	shown, closeLog, err := r.sinks(ctx)
	if err != nil {
		return err
	}
	defer closeLog()
	control := r.plan.Control()
	defer r.app.signals.Hurry(control.Hurry)()
	errs := r.app.Err
	r.app.signals.On(func() {
		if r.app.ErrTTY {
			fmt.Fprintln(errs, "\nstopping; Ctrl+C again kills at once") //nolint:errcheck // a courtesy
		}
	}, control.Kill)
	out, err = r.plan.Run(ctx, shown...)
	r.report(context.WithoutCancel(ctx))
	if control.Untold() {
		r.app.Tell("the actor had no turn after your last words: they are in the log, and part of the task when the session is resumed")
	}
	if out.Result == "" {
		return err
	}
	if err == nil && out.Result == loop.Success {
		err = r.request(ctx)
	}
	if r.opts.jsonOutput {
		if e := r.printResult(out, err); e != nil {
			err = errors.Join(err, e)
			if out.Result == loop.Success {
				out.Result = loop.Failed // the caller gets no document
			}
		}
	}
	switch {
	case err == nil && out.Result == loop.Success:
		return nil
	case out.Result == loop.Success:
		out.Result = loop.Failed // the work is done, and not where it was to be
	}
	return &command.EndedError{Result: out.Result, Err: err}
}

// printResult prints the document of --json-output.
func (r *runCommand) printResult(out loop.Outcome, broke error) error {
	t := r.plan.State()
	doc := session.Result{
		Outcome: out, ExitCode: resultCode(out.Result),
		SessionID: r.plan.ID(), Log: r.plan.Log(),
		FilesChanged: t.FilesChanged, Insertions: t.Insertions, Deletions: t.Deletions, Musts: t.Musts, Mays: t.Mays,
		Spent: t.Spent, Last: r.plan.Last(),
	}
	if r.asked != nil {
		doc.Branch, doc.RequestURL = r.asked.done.Head, r.asked.done.URL
	}
	if broke != nil {
		doc.Failure, doc.ExitCode = failure(r.app, broke), max(doc.ExitCode, command.ExitError)
	}
	_, err := r.app.Out.Write(doc.Encode())
	return err
}

// failure describes an error for a document.
func failure(a *app, err error) *session.Failure {
	first := problem.Of(err)[0]
	return &session.Failure{Message: a.Secrets.String(first.Message), Hint: a.Secrets.String(first.Hint)}
}

// promptShown is how many bytes of the prompt a dry run shows.
const promptShown = 2000

// describe prints what the plan would do.
func (r *runCommand) describe(w io.Writer) error {
	var b strings.Builder
	from := r.from
	if from == task.FromWords {
		from = "the command line"
	}
	fmt.Fprintf(&b, "%-12s %d bytes from %s\n", "prompt", len(r.prompt), from)
	for _, f := range run.Describe(r.plan) {
		fmt.Fprintf(&b, "%-12s %s\n", f.About, term.Line(f.Text))
	}
	text := r.prompt
	if len(text) > promptShown {
		text = strings.ToValidUTF8(text[:promptShown], "") + "\n…"
	}
	fmt.Fprintf(&b, "\n%s\n", term.Clean(strings.TrimRight(text, "\n")))
	_, err := io.WriteString(w, r.app.Secrets.String(b.String()))
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/diff"
	"codeloops/internal/diff/repo"
	"codeloops/internal/proc"
	"codeloops/internal/session"
	"codeloops/internal/tamper"
)

// A plan is a run that could start: everything that can be refused has been
// looked at, and nothing has been started or written.
type plan struct {
	app  *app
	opts *runOptions

	prompt     string
	promptFrom string
	dir        string // where the agents work, absolute and free of symbolic links
	cfg        *config.Config
	tree       *workTree
	actor      cast
	critic     cast
	sessions   string // directory of the session logs

	deciders *deciders // once the run begins

	course *session.Course // of the session to carry on; nil for a new one
	accept bool            // carry on whatever the work tree looks like
}

// prepare makes the plan of a run. The caller closes its tree.
func (a *app) prepare(ctx context.Context, o *runOptions) (*plan, error) {
	dir, err := realDir(resolve(a.dir, o.workingDir))
	if err != nil {
		return nil, err
	}
	p := &plan{app: a, opts: o, dir: dir}
	waiting := func() { fmt.Fprintln(a.Err, "waiting for the prompt") } //nolint:errcheck // a courtesy
	if p.prompt, p.promptFrom, err = o.prompt.await(ctx, p.dir, a.In, waiting); err != nil {
		if ctx.Err() != nil && a.InTTY && a.ErrTTY {
			_, _ = io.WriteString(a.Err, "\n") // the cursor stands behind what was typed
		}
		return nil, err
	}
	if p.tree, err = a.openTree(ctx, p.dir); err != nil {
		return nil, err
	}
	if err := p.settle(ctx); err != nil {
		return nil, errors.Join(err, p.tree.Close())
	}
	return p, nil
}

// settle works out the configuration and what follows from it.
func (p *plan) settle(ctx context.Context) (err error) {
	co := config.Options{
		Flags: p.opts.set, Env: p.app.env, Home: p.app.home(), WorkingDir: p.dir,
		RepositoryRoot: p.tree.Root(), TrustProject: p.opts.trustProject, Outputs: agent.Formats(),
	}
	if p.cfg, err = config.Load(co); err != nil {
		return err
	}
	if p.sessions, err = p.cfg.Sessions(); err != nil {
		return err
	}
	if err := p.checkSessions(p.sessions); err != nil {
		return err
	}
	if p.actor, p.critic, err = p.app.crew(ctx, p.cfg, p.opts, p.dir); err != nil {
		return err
	}
	if p.cfg.CriticWorktree {
		p.critic = p.mayWrite(p.critic)
	}
	return p.fits()
}

// fits refuses players that could not be bound to this place, before anything is
// started.
func (p *plan) fits() error {
	at := agent.Place{Dir: p.dir, Environ: p.app.env, EnvDeny: p.cfg.EnvDeny, EnvPass: p.cfg.EnvPass}
	for _, who := range slices.Concat(p.actor, p.critic) {
		if _, err := agent.New(who.spec, who.model, at, who.role); err != nil {
			return fmt.Errorf("set up the %s: %w", who.role, err)
		}
	}
	return nil
}

// checkSessions refuses logs where the agents work: what an actor can write says
// nothing of what it was held to.
func (p *plan) checkSessions(dir string) error {
	for _, of := range []string{p.tree.Root(), p.tree.GitDir(), p.tree.CommonDir()} {
		if below(of, dir) {
			return usagef("keep them elsewhere: --session-dir DIR",
				"session logs in %s would lie in %s, where the agents can write", dir, of)
		}
	}
	return nil
}

// realDir returns where a working directory is. A link in its path may be turned
// elsewhere during a run: from here on nobody goes by it.
func realDir(dir string) (string, error) {
	there, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("use the working directory: %w", err)
	}
	st, err := os.Stat(there)
	if err != nil {
		return "", fmt.Errorf("use the working directory: %w", err)
	}
	if !st.IsDir() {
		return "", usagef("name a directory", "the working directory %s is not a directory", dir)
	}
	return there, nil
}

func (a *app) openTree(ctx context.Context, dir string) (*workTree, error) {
	t := &workTree{}
	t.git = &gitProgram{env: a.env, note: t.note}
	tree, err := diff.Open(ctx, dir, diff.Options{
		Env: a.lookupEnv, Now: a.now, Git: t.git, Note: t.note, Settings: tamper.AgentSettings(),
	})
	if err != nil {
		return nil, err
	}
	t.Tree = tree
	if t.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("look at the working directory: %w", err), tree.Close())
	}
	if t.root, err = os.Lstat(tree.Root()); err != nil {
		return nil, errors.Join(fmt.Errorf("look at the work tree: %w", err), tree.Close())
	}
	return t, nil
}

// hintFor says what can be done about errors that do not say so themselves.
func hintFor(err error) string {
	switch {
	case begun(err) && (errors.Is(err, diff.ErrNotRepository) || errors.Is(err, fs.ErrNotExist)):
		return "it was there when the run began: was it the agent?"
	case errors.Is(err, diff.ErrNotRepository):
		return "run it inside a git repository, or make one: git init"
	case errors.Is(err, diff.ErrBare):
		return "a bare repository has no files to work on: run it in a clone or a worktree of it"
	case errors.Is(err, session.ErrRunning):
		return "wait for it, or stop it with Ctrl+C where it runs"
	case errors.Is(err, proc.ErrTooLong):
		return "give the prompt through standard input: prompt = \"stdin\" in the agent's table"
	case errors.Is(err, proc.ErrDirectory):
		return "name the program in it"
	case errors.Is(err, proc.ErrNotExecutable):
		return "make it executable (chmod +x), or name the program that runs it"
	case errors.Is(err, proc.ErrInterpreter):
		return "the program that its first line names (#!…) is not there"
	case errors.Is(err, proc.ErrFormat):
		return "a script begins with a line such as #!/bin/sh"
	}
	if unsupported, ok := errors.AsType[*repo.UnsupportedError](err); ok {
		return unsupportedHint(unsupported)
	}
	return systemHint(err)
}

// systemHint says what can be done about what the system refuses.
func systemHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "check who may read and write it"
	case session.DiskFull(err):
		return "free some space there"
	case errors.Is(err, syscall.EROFS):
		return "codeloops has to write there: is it mounted read-only?"
	case errors.Is(err, syscall.EMFILE):
		return "let a process open more files at once: ulimit -n 1024"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return "is the name right? It was looked for in " + filepath.Dir(path.Path)
	}
	return ""
}

// begun reports whether an error has ended a run, which then found everything in
// its place when it began.
func begun(err error) bool {
	_, ok := errors.AsType[*endedError](err)
	return ok
}

func unsupportedHint(*repo.UnsupportedError) string {
	return "convert the repository, or work in a plain clone of it"
}

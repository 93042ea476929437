package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"codeloops/internal/browse"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/render"
	"codeloops/internal/session"
	"codeloops/internal/spell"
	"codeloops/internal/term"
)

// sessionsExit is the section of a help text that tells the exit codes of a
// command that only looks at logs.
const sessionsExit = `Exit status:
  0    what was asked for was shown; a log that could not be read is named on
       standard error
  2    error: usage, configuration, a session that is not there or not readable
  130  interrupted: Ctrl+C or SIGTERM
`

const refHelp = `ID is the id of a session, any beginning of it or of its hash that fits only
one, "latest", or "latest~1" for the one before that. Without an ID you choose
from a list on a terminal; elsewhere it is the latest session. The latest is that
of this work tree; where it has none, of the repository's other work trees; with
--all that of any directory.`

// A hintedError adds what can be done to an error.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Hint() string  { return e.hint }
func (e *hintedError) Unwrap() error { return e.error }

// logs is where the commands on session logs look for them.
type logs struct {
	app *app
	dir string // --session-dir, "" when it was not given
	all bool   // --all: the sessions of all repositories, and of demonstrations
}

func (l *logs) addFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&l.dir, "session-dir", "", "look for session logs in `dir`")
	cmd.PersistentFlags().BoolVar(&l.all, "all", false, "\"latest\" is that of any directory; lists and totals hold demonstrations, too")
}

func newSessionsCmd(a *app) *cobra.Command {
	l := &logs{app: a}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Browse session logs, add them up, remove them",
		Long: `Browse session logs, add them up, remove them. Alone it lists them.

` + refHelp + `

` + sessionsExit,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			hint := "there are " + strings.Join(names, ", ")
			if name, ok := spell.Nearest(args[0], names); ok {
				hint = fmt.Sprintf("did you mean `%s %s`?", cmd.CommandPath(), name)
			}
			return usagef(hint, "%s has no command %q", cmd.CommandPath(), args[0])
		},
		RunE: func(*cobra.Command, []string) error {
			return runSessionsList(l, &listOptions{sort: string(browse.ByStart)})
		},
	}
	l.addFlag(cmd)
	cmd.AddCommand(
		newSessionsListCmd(l),
		newSessionsShowCmd(l),
		newSessionsAuditCmd(l),
		newSessionsDiffCmd(l),
		newSessionsStatsCmd(l),
		newSessionsRmCmd(l),
		newSessionsPruneCmd(l),
		newSessionsRestoreCmd(l),
		newSessionsExportCmd(l),
	)
	return cmd
}

// settings is the configuration as far as it matters here. Nothing is run, so
// a project's file needs no trust to be read.
func (l *logs) settings() (*config.Config, error) {
	o := l.app.configOptions(l.app.dir)
	o.TrustProject = true
	if l.dir != "" {
		o.Flags = map[string]any{"session_dir": l.dir}
	}
	return config.Load(o)
}

func (l *logs) store() (*session.Store, error) {
	cfg, err := l.settings()
	if err != nil {
		return nil, err
	}
	dir, err := cfg.Sessions()
	if err != nil {
		return nil, err
	}
	return session.NewStore(dir)
}

// find returns the overview of the session that a reference or, when it looks
// like one, a path names. Without one a person is asked; the words are for what.
func (l *logs) find(ctx context.Context, ref, what string) (session.Overview, error) {
	if ref == "" && l.app.interactive() {
		one, err := l.pick(ctx, what)
		return l.lasting(one), err
	}
	if path, ok := l.file(ref); ok {
		return readable(l.lasting(session.Look(path)))
	}
	store, err := l.store()
	if err != nil {
		return session.Overview{}, err
	}
	id, err := l.id(store, ref)
	if err != nil {
		return session.Overview{}, err
	}
	return readable(l.lasting(session.Look(store.Path(id))))
}

// file reports whether a reference is the path of a log.
func (l *logs) file(ref string) (path string, ok bool) {
	if !strings.ContainsAny(ref, `/\`) && filepath.Ext(ref) != ".jsonl" {
		return "", false
	}
	path = resolve(l.app.dir, ref)
	if _, err := os.Lstat(path); err != nil && !strings.ContainsAny(ref, `/\`) {
		return "", false // an id with the ending of its log
	}
	return path, true
}

// readable refuses a log in which nothing can be read. One whose first line
// alone is bad can still be shown.
func readable(o session.Overview) (session.Overview, error) {
	if o.Err == nil {
		return o, nil
	}
	r, err := session.OpenFile(o.Path)
	if err != nil {
		return o, err
	}
	defer r.Close() //nolint:errcheck // opened for reading
	for entry, err := range r.Entries() {
		if _, end := entry.Event.(loop.Finished); err == nil && !end {
			return o, nil
		}
	}
	return o, fmt.Errorf("read session %s: %w", o.ID, o.Err)
}

// id returns the id of the session that a reference stands for.
func (l *logs) id(store *session.Store, ref string) (string, error) {
	if l.all || !session.IsLatest(ref) {
		id, err := store.Resolve(ref, nil)
		return id, explain(err, ref)
	}
	here := l.app.here()
	id, err := store.Resolve(ref, here.which(store))
	if errors.Is(err, session.ErrNotFound) && here.strange(store) {
		return "", here.none(store)
	}
	return id, explain(err, ref)
}

// explain tells what to do about a reference that stands for no session.
func explain(err error, ref string) error {
	if err == nil {
		return nil
	}
	hint := "`codeloops sessions list` shows what there is"
	if several, ok := errors.AsType[*session.AmbiguousError](err); ok {
		const most = 8
		ids := several.IDs
		if len(ids) > most {
			ids = append(ids[:most:most], "…")
		}
		hint = "write more of it: " + strings.Join(ids, ", ")
	} else if ref == "" {
		hint = `there is one as soon as something has been run: codeloops "what to do"`
	}
	return &hintedError{err, hint}
}

// tell names on standard error what could not be read, and goes on.
func (l *logs) tell(err error) {
	report(l.app.Err, err, l.app.secrets)
}

// complete offers the ids of sessions, and files.
func (l *logs) complete(_ *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	store, err := l.store()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	all, err := store.Survey()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var found []cobra.Completion
	for _, one := range all {
		if one.Err == nil && strings.HasPrefix(one.ID, prefix) {
			found = append(found, cobra.CompletionWithDesc(one.ID, render.Cut(term.Line(one.Session.Prompt), 60)))
		}
	}
	return found, cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveKeepOrder
}

// oneRef takes the argument of a command that is about one session.
func oneRef(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("name one session at a time", "%s takes one session, but got %d", cmd.CommandPath(), len(args))
	}
	return noneEmpty(args)
}

// noneEmpty refuses a reference that is there and says nothing, as that of a
// variable that is not set: it would stand for the latest session.
func noneEmpty(refs []string) error {
	if slices.Contains(refs, "") {
		return usagef("name it; the last one is `latest`", "the name of the session is empty")
	}
	return nil
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// screen is standard output as something is laid out for it.
func (a *app) screen() browse.Screen {
	return browse.Screen{Width: a.outWidth(), Style: a.OutRenderer()}
}

// errWidth are the columns for a run on standard error; 0 where that is no terminal,
// so that no line is cut.
func (a *app) errWidth() int {
	if !a.ErrTTY {
		return 0
	}
	return a.Width()
}

func (a *app) outWidth() int {
	if f, ok := a.Out.(*os.File); ok && a.OutTTY && a.Columns == 0 {
		if w, _, err := xterm.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return a.Width()
}

// print hands out standard output as it is for text: without the values of
// secrets, which the log of another program may hold.
func (a *app) print(write func(io.Writer) error) error {
	clean := a.secrets.Writer(a.Out)
	w := bufio.NewWriterSize(clean, 64<<10)
	err := write(w)
	for _, end := range []func() error{w.Flush, clean.Close} {
		if again := end(); err == nil { // it says again what went wrong before
			err = again
		}
	}
	return unlessGone(err)
}

// unlessGone drops the error of a write whose reader has gone away, as head
// and pagers do: they have seen what they wanted.
func unlessGone(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

package main

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/config"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
)

const refHelp = `ID is the id of a session, any beginning of it or of its hash that only one has,
"latest", or "latest~1" for the one before that. Without an ID you choose from a
list on a terminal; elsewhere it is the latest session. The latest is that of
this work tree or, if it has none, of the repository's other work trees; with
--all, of any directory.`

// logs is where the commands on session logs look for them.
type logs struct {
	*lookup.Logs

	app *app
}

func (a *app) logs() *logs {
	return &logs{app: a, Logs: &lookup.Logs{
		Host: &a.Host, Settings: func() config.Options { return a.configOptions(a.Dir) },
		Tell: func(err error) { report(a.Err, err, a.Secrets) },
	}}
}

func (l *logs) addFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&l.Dir, "session-dir", "", "look for session logs in `dir`")
	cmd.PersistentFlags().BoolVar(&l.All, "all", false, "\"latest\" is that of any directory; lists and totals hold demonstrations, too")
}

func newSessionsCmd(a *app) *cobra.Command {
	l := a.logs()
	cmd := &cobra.Command{
		Use:         "sessions",
		Annotations: lookExits(),
		Example: `  codeloops sessions list --since 7d
  codeloops sessions show latest`,
		Short: "Browse session logs, add them up, remove them",
		Long: `Browse session logs, add them up, remove them. Alone it lists them.

` + refHelp,
		Args: ownCommands,
		RunE: func(*cobra.Command, []string) error {
			return runSessionsList(l, &listOptions{sort: string(sessionview.ByStart)})
		},
	}
	l.addFlag(cmd)
	cmd.AddCommand(
		newSessionsListCmd(l),
		newSessionsSearchCmd(l),
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

// find returns the overview of the session that a reference or a path names. Without
// one a person is asked; the words are for what.
func (l *logs) find(ctx context.Context, ref, what string) (session.Overview, error) {
	if ref == "" && l.app.interactive() {
		one, err := l.pick(ctx, what)
		if err != nil {
			return one, err
		}
		ref = one.Path
	}
	return l.Find(ref)
}

// complete offers the ids of sessions, and files.
func (l *logs) complete(_ *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	store, err := l.Store()
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
func (a *app) screen() sessionview.Screen {
	return sessionview.Screen{Width: a.OutWidth(), Style: a.OutRenderer(), ASCII: a.ASCII}
}

// errWidth are the columns for a run on standard error; 0 where that is no terminal,
// so that no line is cut.
func (a *app) errWidth() int {
	if !a.ErrTTY {
		return 0
	}
	return a.Width()
}

// outRoom returns the columns of standard output, 0 where it is no terminal.
func (a *app) outRoom() int {
	if !a.OutTTY {
		return 0
	}
	return a.OutWidth()
}

// print hands out standard output as it is for text: without the values of
// secrets, which the log of another program may hold.
func (a *app) print(write func(io.Writer) error) error {
	clean := a.Secrets.Writer(a.Out)
	w := bufio.NewWriterSize(clean, 64<<10)
	err := write(w)
	for _, end := range []func() error{w.Flush, clean.Close} {
		if again := end(); err == nil { // it says again what went wrong before
			err = again
		}
	}
	return pager.UnlessGone(err)
}

package command

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/screen/picker"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/export"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
)

// Logs finds session logs for commands.
type Logs struct {
	*lookup.Logs

	Console *Console
}

// Logs returns the logs that the configuration names, seen from the current directory.
func (c *Console) Logs() *Logs {
	return &Logs{Console: c, Logs: &lookup.Logs{
		Host: &c.Host, Settings: func() config.Options { return c.Settings(c.Dir) }, Tell: c.Report,
	}}
}

// FindOrAsk returns the overview of the session that a reference or a path names. Without one it asks a
// person the question, and elsewhere takes the latest.
func (l *Logs) FindOrAsk(ctx context.Context, ref, question string) (session.Overview, error) {
	if ref == "" && l.Console.Interactive() {
		one, err := l.Pick(ctx, question)
		if err != nil {
			return one, err
		}
		ref = one.Path
	}
	return l.Find(ref)
}

// Pick lets the user choose one of the sessions that can be read.
func (l *Logs) Pick(ctx context.Context, question string) (session.Overview, error) {
	some, err := l.Some()
	if err != nil {
		return session.Overview{}, err
	}
	return l.Choose(ctx, some, question)
}

// Choose lets the user choose a session. If there is only one, it does not ask.
func (l *Logs) Choose(ctx context.Context, some []session.Overview, question string) (session.Overview, error) {
	if len(some) == 1 {
		return some[0], nil
	}
	c := l.Console
	zone := c.Now().Location()
	screen := sessionview.Screen{Style: c.ErrRenderer(), ASCII: c.ASCII}
	list := picker.List{
		Count:   len(some),
		Search:  func(i int) string { return sessionview.SearchText(some[i]) },
		Line:    func(i, width int) string { return screen.Wide(width).PickLine(some[i], zone) },
		Preview: func(i, width int) []string { return preview(some[i], screen.Wide(width), zone) },
	}
	in, _ := c.In.(*os.File) // a terminal, because there is somebody to ask
	at, err := picker.Pick(ctx, list, picker.Options{In: in, Out: c.Err, Jobs: &c.Jobs, Style: screen.Style, ASCII: screen.ASCII, Title: question})
	if errors.Is(err, picker.ErrCancelled) {
		err = &EndedError{Result: loop.Interrupted} // the user knows
	}
	if err != nil {
		return session.Overview{}, err
	}
	return some[at], nil
}

// preview shows in some lines what a session was for and came to.
func preview(one session.Overview, screen sessionview.Screen, zone *time.Location) []string {
	var b strings.Builder
	_ = export.Brief(&b, export.Options{Format: export.OnScreen, Session: one, Zone: zone, Screen: screen}) // into memory
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, screen.Width, "…")
	}
	return lines
}

// Complete offers the ids of sessions, and files.
func (l *Logs) Complete(_ *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	store, err := l.Store()
	var all []session.Overview
	if err == nil {
		all, err = store.Survey()
	}
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var found []cobra.Completion
	for _, one := range all {
		if one.Err == nil && strings.HasPrefix(one.ID, prefix) {
			found = append(found, Completion(one.ID, one.Session.Prompt))
		}
	}
	return found, cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveKeepOrder
}

// Completion is a word that a shell offers, with a description.
func Completion(word, about string) cobra.Completion {
	return cobra.CompletionWithDesc(word, render.Cut(term.Line(about), 60))
}

// Format returns the format to show a session in; "" means the configured one.
func (l *Logs) Format(said string) (render.Format, error) {
	if said == "" {
		cfg, err := l.Config()
		if err != nil {
			return "", err
		}
		said = cfg.LogFormat
	}
	return render.Format(said), lookup.OneOf("--log-format", said, []string{string(render.Pretty), string(render.Compact), string(render.JSON)})
}

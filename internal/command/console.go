// Package command holds what all commands share.
package command

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/problem"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/screen/ci"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/notice"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording/hint"
)

// A Console is where a command runs. main fills in the streams, the environment and the clock;
// nothing below asks the process for them again.
type Console struct {
	*term.Streams
	host.Host
}

// Tell writes a sentence to standard error. It may quote what an agent or another program has said.
func (c *Console) Tell(sentence string) {
	fmt.Fprintf(c.shown(c.Err, false), "codeloops: %s\n", term.Clean(c.Secrets.String(sentence))) //nolint:errcheck // a courtesy
}

// Report writes an error and its hint, each on a line. The error may quote a repository, an agent
// or the environment.
func (c *Console) Report(err error) {
	w := c.shown(c.Err, false)
	for _, p := range problem.Of(err) {
		fmt.Fprintf(w, "codeloops: %s\n", term.Clean(c.Secrets.String(p.Message))) //nolint:errcheck // there is nowhere else to report it
		if p.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", term.Clean(c.Secrets.String(p.Hint))) //nolint:errcheck // as above
		}
	}
}

// Show writes v as JSON, or text for a person.
func (c *Console) Show(asJSON bool, v any, text string) error {
	if asJSON {
		return c.JSON(v)
	}
	return c.Print(func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// JSON writes an indented JSON value to standard output.
func (c *Console) JSON(v any) error {
	return c.print(c.shown(c.Out, true), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

// Print lets write use standard output. Values of secrets are removed: the log of another program
// may hold them.
func (c *Console) Print(write func(io.Writer) error) error {
	return c.print(c.shown(c.Out, false), write)
}

// PrintJSON is Print for lines of JSON.
func (c *Console) PrintJSON(write func(io.Writer) error) error {
	return c.print(c.shown(c.Out, true), write)
}

func (c *Console) print(out io.Writer, write func(io.Writer) error) error {
	clean := c.Secrets.Writer(out)
	w := bufio.NewWriterSize(clean, 64<<10)
	return pager.UnlessGone(cmp.Or(write(w), w.Flush(), clean.Close())) // later errors repeat the first one
}

// shown returns a stream for what people read. In the log of a CI job nothing in it is a command.
func (c *Console) shown(w io.Writer, isJSON bool) io.Writer {
	return ci.New(ci.Of(ci.Auto, c.Getenv)).Writer(w, isJSON)
}

// Page shows a text in the user's pager.
func (c *Console) Page(ctx context.Context, noPager bool, write func(context.Context, io.Writer) error) error {
	streams := &term.Streams{Out: c.shown(c.Out, false), Err: c.Err, OutTTY: c.OutTTY}
	p := &pager.Pager{Streams: streams, Host: &c.Host, Git: git.Git{Environ: c.Environ}}
	return p.Show(ctx, noPager, write)
}

// Screen describes standard output for layout.
func (c *Console) Screen() sessionview.Screen {
	return sessionview.Screen{Width: c.OutWidth(), Style: c.OutRenderer(), ASCII: c.ASCII}
}

// Interactive reports whether there is a person to ask, at a terminal that can show a list.
func (c *Console) Interactive() bool {
	kind := c.Getenv("TERM")
	return c.CanAsk() && c.OutTTY && kind != "" && kind != "dumb" && c.Getenv("CI") == ""
}

// Settings returns what the configuration depends on, seen from dir. Outside of a repository only
// dir itself may hold a project file.
func (c *Console) Settings(dir string) config.Options {
	o := config.Options{Env: c.Environ, Home: c.Home(), WorkingDir: dir}
	if r, err := git.Open(dir, c.Environ); err == nil {
		o.RepositoryRoot, o.MainTree = r.WorkTree, git.First(r.Family)
	}
	return o
}

// Version returns the module's version, or the commit that it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// InTurn reports whether this process was started by an agent or a check of a run. A process may
// unset the variable, but cannot hide from proc.UnderKeeper.
func (c *Console) InTurn() bool { return c.Getenv("CODELOOPS_SESSION") != "" || proc.UnderKeeper() }

// RequireUser rejects what only the user may do if an agent does it. said tells which of these things
// were requested.
func (c *Console) RequireUser(said map[string]bool) error {
	for _, what := range slices.Sorted(maps.Keys(said)) {
		if said[what] && c.InTurn() {
			return hint.Errorf("leave it to the user, outside of the run", "%s is for the user alone, and this is a turn of a running session", what)
		}
	}
	return nil
}

// UsersCommand rejects a command that only the user may run.
func (c *Console) UsersCommand(cmd *cobra.Command, _ []string) error {
	return c.RequireUser(map[string]bool{"`" + cmd.CommandPath() + "`": true})
}

// Live puts a screen in front of standard error and passes keys to a steerer, until closed is
// called.
func (c *Console) Live(ctx context.Context, o live.Options, to live.Steerer) (keys *live.Keyboard, closed func()) {
	c.Err = c.shown(c.Err, false)
	terminal, own, release := live.Over(c.Streams)
	o.Terminal, o.Now, o.Title = terminal, c.Now, o.Title && notice.SupportsEscapes(c.Getenv("TERM"))
	screen := live.New(o)
	c.Err = screen
	keys = &live.Keyboard{Screen: screen, Streams: c.Streams, To: to, Pager: func(text string) error {
		p := pager.Pager{Streams: own, Host: &c.Host, Git: git.Git{Environ: c.Environ}, Leaves: true}
		return p.Show(ctx, false, func(_ context.Context, out io.Writer) error {
			_, err := io.WriteString(out, sessionview.Screen{Style: c.ErrRenderer()}.Coloured(text))
			return err
		})
	}}
	keys.Open()
	return keys, func() {
		keys.Close()
		_ = screen.Close() // its error has been the sink's
		release()
	}
}

// RenderOptions returns how the console shows a run in a format. log returns the path of the log, which is
// shown at the end.
func (c *Console) RenderOptions(f render.Format, log func() string) render.Options {
	return render.Options{
		Progress: c.shown(c.Err, f == render.JSON), Style: c.ErrRenderer(), Width: c.ErrRoom(), ASCII: c.ASCII && c.ErrTTY, Zone: c.Now().Location(),
		Result: render.Result{Out: c.shown(c.Out, false), Ending: c.OutRenderer(), Room: c.OutRoom(), Log: log},
	}
}

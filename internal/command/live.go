package command

import (
	"context"
	"io"
	"os"
	"os/signal"

	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/notice"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// Live puts a screen in front of standard error and passes keys to a steerer, until closed is
// called.
func (c *Console) Live(ctx context.Context, o live.Options, to live.Steerer) (keys *live.Keyboard, closed func()) {
	// The pager and the size need the terminal itself, not the screen in front of it.
	own := &term.Streams{In: c.In, Out: c.Out, Err: c.Err, OutTTY: c.OutTTY, ErrTTY: c.ErrTTY, Columns: c.Columns}
	resized := make(chan os.Signal, 1)
	term.NotifyResize(resized)
	o.Terminal = live.Terminal{
		Out: own.Err, Size: own.Size, Resized: resized, Style: c.ErrRenderer(),
		ASCII: c.ASCII, Plain: c.Plain || !c.ErrTTY, Reflows: c.Reflows,
	}
	o.Now, o.Title = c.Now, o.Title && notice.Knows(c.Getenv("TERM"))
	screen := live.New(o)
	c.Err = screen
	keys = &live.Keyboard{Screen: screen, Streams: c.Streams, To: to, Pager: func(text string) error {
		p := pager.Pager{Streams: own, Host: &c.Host, Git: &worktree.Git{Environ: c.Environ}}
		return p.Show(ctx, false, func(_ context.Context, out io.Writer) error {
			_, err := io.WriteString(out, text)
			return err
		})
	}}
	keys.Open()
	return keys, func() {
		keys.Close()
		_ = screen.Close() // its error has been the sink's
		signal.Stop(resized)
	}
}

// Shown returns how the console shows a run. log returns the path of the log, which is shown at the
// end.
func (c *Console) Shown(log func() string) render.Options {
	return render.Options{
		Progress: c.Err, Style: c.ErrRenderer(), Width: c.ErrRoom(), ASCII: c.ASCII && c.ErrTTY, Zone: c.Now().Location(),
		Result: render.Result{Out: c.Out, Ending: c.OutRenderer(), Room: c.OutRoom(), Log: log},
	}
}

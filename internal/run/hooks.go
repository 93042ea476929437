package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/check"
	"codeloops/internal/session"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording"
)

// lastCall is how long a hook may take when the run was interrupted: the user wants it to end.
const lastCall = 5 * time.Second

// A hooks is a [loop.Sink] that calls the user's commands, one after the other and beside the run. They cannot end it, and
// only its end waits for them.
type hooks struct {
	*running

	calls chan call
	over  chan struct{} // closed when all calls are made
}

// A call is a hook with what it is told, as docs/notices.md describes it.
type call struct {
	command string

	Hook       string          `json:"hook"`
	Text       string          `json:"text"`
	Session    string          `json:"session"`
	Log        string          `json:"log"`
	WorkingDir string          `json:"working_dir"`
	Prompt     string          `json:"prompt"`
	Event      json.RawMessage `json:"event"`
}

// hooks returns the hooks of a run; nil if it has none. The caller awaits them.
func (r *running) hooks(ctx context.Context) *hooks {
	h := r.Config.Hooks
	if h.Start+h.Iteration+h.Wait+h.End == "" {
		return nil
	}
	all := &hooks{running: r, calls: make(chan call, 64), over: make(chan struct{})}
	go func() {
		defer close(all.over)
		for c := range all.calls {
			if err := all.make(ctx, c); err != nil && r.options.Tell != nil {
				r.options.Tell(fmt.Sprintf("the hook %s failed: %v", c.Hook, err))
			}
		}
	}()
	return all
}

// await waits until the last call is over.
func (h *hooks) await() {
	close(h.calls)
	<-h.over
}

// Handle implements [loop.Sink].
func (h *hooks) Handle(at loop.Stamp, e loop.Event) error {
	set, c := h.Config.Hooks, call{Event: session.Encode(at, e)}
	switch e := e.(type) { //nolint:gochecksumtype // there are hooks for a few events
	case loop.Started:
		c.command, c.Hook, c.Text = set.Start, "on_start", "began"
	case loop.Resumed:
		c.command, c.Hook, c.Text = set.Start, "on_start", "goes on after "+wording.Count(e.Iterations, "iteration")
	case loop.IterationFinished:
		c.command, c.Hook, c.Text = set.Iteration, "on_iteration", fmt.Sprintf("iteration %d: %s", e.Round.Iteration, e.Round.Verdict.Word())
	case loop.WaitStarted:
		c.command, c.Hook, c.Text = set.Wait, "on_wait", fmt.Sprintf("waits for %s until %s", e.Wait.Agent, e.Wait.Until.In(h.options.Host.Now().Location()).Format("15:04"))
	case loop.Noted:
		if e.Name == loop.NoteQuestion {
			c.command, c.Hook, c.Text = set.Wait, "on_wait", "waits for you: "+e.Text
		}
	case loop.Finished:
		c.command, c.Hook, c.Text = set.End, "on_end", ended(e.Outcome)
	}
	if strings.TrimSpace(c.command) == "" {
		return nil
	}
	c.Session, c.Log, c.WorkingDir = h.ID(), h.Log(), h.Dir
	c.Prompt = standing.Title(h.options.Host.Secrets.String(h.options.Prompt))
	c.Text = wording.Line(fmt.Sprintf("%s: %s (%s)", filepath.Base(h.Root()), c.Text, c.Prompt))
	select {
	case h.calls <- c:
	default: // it hangs, and its limit is long
		if h.options.Tell != nil {
			h.options.Tell("the hook " + c.Hook + " was not called, because too many earlier calls are not over")
		}
	}
	return nil
}

// ended says how a run ended.
func ended(o loop.Outcome) string {
	said := fmt.Sprintf("%s after %s", strings.ReplaceAll(string(o.Result), "_", " "), wording.Count(o.Iterations, "iteration"))
	if o.Result != loop.Success {
		said += ": " + strings.ReplaceAll(string(o.Reason), "_", " ")
	}
	return said
}

// make calls a hook.
func (h *hooks) make(ctx context.Context, c call) error {
	limit := h.Config.Hooks.Timeout
	if ctx.Err() != nil && (limit == 0 || limit > lastCall) {
		limit = lastCall
	}
	ctx = context.WithoutCancel(ctx)
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not end within %s", wording.Duration(limit)))
		defer cancel()
	}
	told, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = proc.Output(ctx, proc.Call{Invocation: proc.Invocation{
		Argv: check.Shell(c.command), Dir: h.Dir, Stdin: append(told, '\n'), Env: append(slices.Clip(h.options.Host.Environ), "CODELOOPS_HOOK_TEXT="+c.Text),
	}, MaxOutput: 1 << 20})
	if exit, ok := errors.AsType[*proc.ExitError](err); ok {
		return fmt.Errorf("exit code %d: %s", exit.ExitCode, wording.Quote(wording.Line(exit.Stderr), 200))
	}
	return err
}

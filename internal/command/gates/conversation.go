package gates

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/session"
)

// A conversation is what a hook knows of one, between its events.
type conversation struct {
	Asked    []string // what the user has asked since the last approval
	Since    string   // what the work is measured from
	Kept     bool     // that is a checkpoint
	Began    string   // the state that it holds
	Stats    string   // what the file system said at the last look
	State    string   // and the state that it found
	Session  string   // of codeloops: the rounds so far
	Logs     string
	Told     int    // how much of what was asked the session knows
	Rounds   int    // how often the agent was sent back
	Judged   string // the state that was judged last
	Approved bool
	Says     string // what was said about that
	Over     bool   // what is asked next is a new task
}

// name is the name of a conversation's file, and of its checkpoint: its own may be anything.
func name(of string) string {
	sum := sha256.Sum256([]byte(of))
	return "gate-" + hex.EncodeToString(sum[:8])
}

// old is how long a conversation is known of that nobody goes on with.
const old = 60 * 24 * time.Hour

// tidy forgets old conversations. What cannot be removed is left to the next one.
func (h *Hook) tidy() {
	all, _ := filepath.Glob(filepath.Join(h.Host.Data("gate"), "gate-*.json"))
	for _, path := range all {
		if st, err := os.Stat(path); err == nil && h.Host.Now().Sub(st.ModTime()) > old {
			_, _ = os.Remove(path), os.Remove(path+".lock")
		}
	}
}

// with reads what is known of a conversation, lets do use it, and keeps what it leaves, also if it fails. No other event of the
// conversation is answered meanwhile: it waits, until ctx is done.
func (h *Hook) with(ctx context.Context, of string, do func(*conversation) error) error {
	dir := h.Host.Data("gate")
	if dir == "" {
		return errors.New("there is no home directory to keep the state of the conversation in")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, name(of)+".json")
	held, err := lock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("lock the state of the conversation: %w", err)
	}
	defer held.Close() //nolint:errcheck // it was only locked
	var c conversation
	text, _, err := file.Read(path, file.Options{})
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the state of the conversation: %w", err)
	}
	failed := do(&c)
	now, err := json.Marshal(c)
	if err == nil && !bytes.Equal(now, text) {
		err = file.Write(path, now, 0o600)
	}
	return errors.Join(failed, err)
}

func lock(ctx context.Context, path string) (io.Closer, error) {
	for {
		held, free, err := file.TryLock(path, false)
		if err != nil || free {
			return held, err
		}
		const pause = 20 * time.Millisecond
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// hear has the conversation know what was asked, where no prompt of it was met.
func (c *conversation) hear(e Event) error {
	if len(c.Asked) > 0 {
		return nil
	}
	asked := ""
	switch e.Name {
	case subagentEnds:
		asked = lastPrompt(e.Own)
	case taskCompleted:
		asked = strings.TrimSpace(e.Subject + "\n\n" + e.Text)
	default: // the gate was installed while it went on
		asked = lastPrompt(e.Transcript)
	}
	if asked == "" {
		return errors.New("it is not known what the user has asked for")
	}
	c.Asked = []string{asked}
	return nil
}

// judge has the work judged, in one more round.
func (c *conversation) judge(ctx context.Context, h *Hook, e Event) (err error) {
	if err := c.hear(e); err != nil {
		return err
	}
	o := h.options(e.Dir)
	o.Prompt = strings.Join(c.Asked, "\n\n")
	o.Judge.Since, o.Judge.Kept, o.Judge.Account = c.Since, c.Kept, e.Last
	var p *run.Plan
	if c.Session == "" {
		p, err = run.Prepare(ctx, o)
	} else {
		o.Words = c.Asked[c.Told:]
		p, err = run.Resume(ctx, o, run.Earlier{ID: c.Session, Logs: c.Logs, AcceptChanges: true, Trusted: true})
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	c.Judged = ""
	out, err := p.Run(ctx)
	if p.ID() != "" {
		c.Session, c.Logs, c.Told = p.ID(), p.Logs, len(c.Asked)
	}
	if err != nil {
		return err
	}
	switch out.Result {
	case loop.Success:
		c.Approved, c.Says = true, out.Summary
		c.Session = "" // it is over
	case loop.MaxIterations:
		c.Approved, c.Says = false, text(p.Last())
	case loop.BudgetExhausted, loop.Failed, loop.Interrupted:
		return errors.New(out.Summary)
	}
	return nil
}

// text is what an agent has to know of a verdict.
func text(v session.Last) string {
	var b strings.Builder
	var must, may []string
	for _, f := range v.Findings {
		switch {
		case f.State.Over():
		case f.May:
			may = append(may, f.Text)
		default:
			must = append(must, f.ID+": "+f.Text)
		}
	}
	list(&b, "What must be done first:", must)
	if len(must) == 0 {
		b.WriteString(strings.TrimSpace(v.Feedback) + "\n")
	}
	var red []string
	for _, one := range v.Checks {
		if !one.Passed {
			red = append(red, fmt.Sprintf("`%s` ended with exit code %d:\n%s", one.Command, one.ExitCode, strings.TrimSpace(one.Output)))
		}
	}
	list(&b, "Checks that fail:", red)
	list(&b, "Optional:", may)
	return strings.TrimSpace(b.String())
}

func list(b *strings.Builder, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString(heading + "\n")
	for _, item := range items {
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  ") + "\n")
	}
}

// look is the command that shows the session.
func (c *conversation) look() string {
	if c.Session == "" {
		return ""
	}
	if _, known := session.Began(c.Session); !known {
		return ""
	}
	return "(codeloops sessions show " + c.Session + " shows it in full.)"
}

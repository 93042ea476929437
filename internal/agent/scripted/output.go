package scripted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"time"
)

// outputActions print while the turn lasts.
func outputActions() []action {
	return []action{
		{"say", func(t *table) step {
			text := t.text("say")
			return func(_ context.Context, p *player) error { return p.speech.say(p.sealed(text)) }
		}},
		{"complain", func(t *table) step {
			text := t.text("complain")
			return func(_ context.Context, p *player) error { return sayLine(p.stderr, text) }
		}},
		{"flood", flood},
	}
}

// timeActions let time pass.
func timeActions() []action {
	return []action{
		{"sleep", func(t *table) step {
			d := t.duration("sleep")
			return func(ctx context.Context, _ *player) error { return sleep(ctx, d) }
		}},
		{"wait_for", func(t *table) step {
			name := t.file("wait_for")
			return func(ctx context.Context, p *player) error { return p.waitFor(ctx, name) }
		}},
		{"hang", func(t *table) step {
			must(t, "hang")
			// The Go runtime would report a deadlock if it blocked.
			return func(ctx context.Context, _ *player) error { return sleep(ctx, math.MaxInt64) }
		}},
	}
}

// sayLine prints text as whole lines.
func sayLine(w io.Writer, text string) error {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// flood prints a lot.
func flood(t *table) step {
	size, oneLine, stream := t.size("flood"), t.flag("one_line", false), t.text("to")
	if t.has("to") && stream != "stdout" && stream != "stderr" {
		t.failf("to", "to must be \"stdout\" or \"stderr\", not %q", stream)
	}
	return func(_ context.Context, p *player) error {
		w := p.stdout
		if stream == "stderr" {
			w = p.stderr
		}
		end := "\n"
		if oneLine {
			end = "x"
		}
		chunk := bytes.Repeat([]byte(strings.Repeat("x", 79)+end), 800)
		for left := size; left > 0; left -= int64(len(chunk)) {
			if _, err := w.Write(chunk[:min(left, int64(len(chunk)))]); err != nil {
				return err
			}
		}
		return nil
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// waitFor waits until a file exists.
func (p *player) waitFor(ctx context.Context, name string) error {
	const interval = 5 * time.Millisecond
	for {
		_, err := p.root.Lstat(filepath.FromSlash(name))
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := sleep(ctx, interval); err != nil {
			return fmt.Errorf("wait for %s: %w", name, err)
		}
	}
}

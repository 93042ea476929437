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
		{"say", func(t *table) step { return say{text: t.text("say")} }},
		{"complain", func(t *table) step { return say{text: t.text("complain"), stderr: true} }},
		{"flood", func(t *table) step {
			s := flood{size: t.size("flood"), oneLine: t.flag("one_line", false), stream: t.text("to")}
			if t.has("to") && s.stream != "stdout" && s.stream != "stderr" {
				t.failf("to", "to must be \"stdout\" or \"stderr\", not %q", s.stream)
			}
			return s
		}},
	}
}

// timeActions let time pass.
func timeActions() []action {
	return []action{
		{"sleep", func(t *table) step { return sleep(t.duration("sleep")) }},
		{"wait_for", func(t *table) step { return waitFor(t.file("wait_for")) }},
		{"hang", func(t *table) step {
			must(t, "hang")
			return sleep(math.MaxInt64) // the Go runtime would report a deadlock if it blocked
		}},
	}
}

type say struct {
	text   string
	stderr bool
}

func (s say) do(_ context.Context, p *player) error {
	if s.stderr {
		return sayLine(p.stderr, s.text)
	}
	return p.speech.say(p.sealed(s.text))
}

// sayLine prints text as whole lines.
func sayLine(w io.Writer, text string) error {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// A flood is a lot of output.
type flood struct {
	size    int64
	oneLine bool
	stream  string
}

func (s flood) do(_ context.Context, p *player) error {
	w := p.stdout
	if s.stream == "stderr" {
		w = p.stderr
	}
	end := "\n"
	if s.oneLine {
		end = "x"
	}
	chunk := bytes.Repeat([]byte(strings.Repeat("x", 79)+end), 800)
	for left := s.size; left > 0; left -= int64(len(chunk)) {
		if _, err := w.Write(chunk[:min(left, int64(len(chunk)))]); err != nil {
			return err
		}
	}
	return nil
}

type sleep time.Duration

func (s sleep) do(ctx context.Context, _ *player) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Duration(s)):
		return nil
	}
}

type waitFor string

func (s waitFor) do(ctx context.Context, p *player) error {
	const interval = 5 * time.Millisecond
	for {
		_, err := p.root.Lstat(filepath.FromSlash(string(s)))
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := sleep(interval).do(ctx, p); err != nil {
			return fmt.Errorf("wait for %s: %w", s, err)
		}
	}
}

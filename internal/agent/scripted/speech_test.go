package scripted

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
)

// printed plays a turn in a format and returns its output.
func printed(t *testing.T, scenario, format string) (stdout []byte, stderr string) {
	t.Helper()
	u, err := parse("s.toml", []byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	speech, err := newSpeech(&out, format)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{stdout: &out, stderr: &errs, speech: speech, now: func() time.Time { return time.Unix(1795300000, 0) }}
	if err := p.play(context.Background(), u.roles["actor"][0]); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), errs.String()
}

func read(t *testing.T, format string, stdout []byte) transcript.Report {
	t.Helper()
	d, ok := transcript.New(format, 1<<20, nil)
	if !ok {
		t.Fatalf("no decoder for %q", format)
	}
	_, _ = d.Write(stdout)
	return d.Report()
}

// TestFormatsAreUnderstood: the decoders of the real CLIs understand what the scripted
// agent prints in their formats.
func TestFormatsAreUnderstood(t *testing.T) {
	t.Parallel()
	if !slices.Equal(formats(), transcript.Formats()) {
		t.Errorf("the agent prints %q, the decoders read %q", formats(), transcript.Formats())
	}
	for _, format := range formats() {
		stdout, _ := printed(t, `[[actor]]
step = [ { say = "first\nmessage" } ]
say = "the last"
usage = { input = 5, output = 6, cache_read = 7, cost = 0.5 }`, format)
		got := read(t, format, stdout)
		if got.Ending != loop.EndCompleted || got.Text != "the last" || !strings.HasPrefix(got.Said.Text, "first\nmessage\n\nthe last") {
			t.Errorf("%s: %+v\n%s", format, got, stdout)
		}
		want := loop.Tokens{Input: 5, Output: 6, CacheRead: 7}
		if format != "copilot-json" && (got.Usage.Tokens == nil || *got.Usage.Tokens != want) {
			t.Errorf("%s: tokens %+v", format, got.Usage.Tokens)
		}
		stdout, _ = printed(t, "[[actor]]", format)
		if got := read(t, format, stdout).Ending; got != loop.EndEmpty {
			t.Errorf("%s: a silent turn ended as %s", format, got)
		}
	}
}

func TestFaultsAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, format := range formats() {
		for fault, want := range map[string]loop.Ending{
			"auth": loop.EndAuth, "rate_limited": loop.EndRateLimited, "overloaded": loop.EndOverloaded,
			"context_too_long": loop.EndContextTooLong, "failed": loop.EndFailed,
		} {
			if format == "cline-json" && fault != "auth" && fault != "context_too_long" {
				want = loop.EndFailed // other endings cannot be expressed in this format
			}
			stdout, _ := printed(t, "[[actor]]\nsay = 'half'\nreason = 'broken'\nfault = '"+fault+"'", format)
			got := read(t, format, stdout)
			if got.Ending != want || !strings.Contains(got.Reason, "broken") {
				t.Errorf("%s: %s came out as %s, %q", format, fault, got.Ending, got.Reason)
			}
		}
	}
	stdout, _ := printed(t, "[[actor]]\nfault = 'rate_limited'\nreset_after = '90s'", "claude-stream-json")
	if got := read(t, "claude-stream-json", stdout).ResetAt; got.Unix() != 1795300090 {
		t.Errorf("the limit ends at %v", got)
	}
}

func TestFaultAsText(t *testing.T) {
	t.Parallel()
	stdout, stderr := printed(t, "[[actor]]\nsay = 'half'\nreason = 'broken'\nfault = 'auth'", "text")
	if string(stdout) != "half\n" || stderr != "broken\n" {
		t.Errorf("printed %q and %q", stdout, stderr)
	}
}

func TestFormatFlag(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "s.toml")
	if err := os.WriteFile(script, []byte("[[actor]]\nsay = 'hello'"), 0o600); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"codex-json": "turn.completed", "text": "hello\n", "": "hello\n",
		"json": `--format is "json", not one of text, claude-stream-json, `,
	} {
		var out bytes.Buffer
		in := Invocation{
			Args: []string{"--script", script, "--format", format}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Env: func(string) string { return "" },
		}
		if _, err := in.play(context.Background()); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q: %s", format, out.String())
		}
	}
}

package gates

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/config/host"
)

func TestLastPrompt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"claude": {`{"type":"user","message":{"role":"user","content":"first"}}
{"type":"user","isMeta":true,"message":{"role":"user","content":"not said"}}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"second"}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"x"}]}}
`, "second"},
		"codex": {`{"type":"session_meta","payload":{"id":"x"}}
{"type":"event_msg","payload":{"type":"user_message","message":"do it"}}
{"type":"event_msg","payload":{"type":"agent_message","message":"done"}}
not JSON
`, "do it"},
		"none": {"{}\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "transcript.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lastPrompt(path); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := lastPrompt(t.TempDir()); got != "" {
		t.Errorf("a directory holds %q", got)
	}
}

// TestTidy: what is known of a conversation is forgotten with time.
func TestTidy(t *testing.T) {
	t.Parallel()
	h := &Hook{Host: &host.Host{Environ: []string{"XDG_DATA_HOME=" + t.TempDir()}, Now: time.Now}}
	for _, of := range []string{"lately", "long ago"} {
		if err := h.with(t.Context(), of, func(c *conversation) error { c.Asked = []string{of}; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	path, then := filepath.Join(h.Host.Data("gate"), name("long ago")+".json"), time.Now().Add(-2*old)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	h.tidy()
	left, err := os.ReadDir(h.Host.Data("gate"))
	if err != nil || len(left) != 2 || !strings.HasPrefix(left[0].Name(), name("lately")) {
		t.Errorf("left are %v, %v", left, err)
	}
}

func FuzzPromptIn(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"}]}}`))
	f.Add([]byte(`{"type":"event_msg","payload":{"type":"user_message","message":"x"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if text := promptIn(line); text != "" && !json.Valid(line) {
			t.Errorf("%q says %q", line, text)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"s","cwd":"/"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if e, err := read(bytes.NewReader(text)); err == nil && (e.Session == "" || e.Dir == "") {
			t.Errorf("%q is the event %+v", text, e)
		}
	})
}

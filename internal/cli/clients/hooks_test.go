package clients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/cli/clients"
	"codeloops/internal/config/host"
)

// readable reports whether an agent would read the hooks in its settings.
func readable(settings map[string]any) bool {
	hooks, is := settings["hooks"]
	if !is {
		return true
	}
	events, ok := hooks.(map[string]any)
	for event, groups := range events {
		if all, list := groups.([]any); !list || len(all) == 0 || strings.ContainsAny(event, `.*?|#@\:!{}[]()=<>%"'~`) {
			ok = false
		}
	}
	return ok && len(events) > 0
}

// FuzzHooks: whatever is in the settings of an agent is there after the gate was installed, and when it is gone again.
func FuzzHooks(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"model":"x","hooks":{}}`, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"own"}]}]},"z":[1,2]}`,
		`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[]}]}}`, "{\n  \"a.b\": {\"c\\\"d\": null}\n}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var before map[string]any
		if json.Unmarshal(text, &before) != nil || before == nil || strings.Contains(string(text), "gate --hook") || !readable(before) {
			return
		}
		roundTrip(t, text, before)
	})
}

// roundTrip installs a gate in settings and takes it out again.
func roundTrip(t *testing.T, text []byte, before map[string]any) {
	t.Helper()
	var after map[string]any
	s := hooks(t, "claude", string(text))
	if err := s.Install("codeloops gate --hook claude", []string{"UserPromptSubmit", "Stop"}); err != nil {
		return // it is refused, and nothing was written
	}
	if events, err := s.Events(); err != nil || !slices.Contains(events, "Stop") {
		t.Fatalf("installed for %v, %v", events, err)
	}
	if took, err := s.Uninstall(); err != nil || !took {
		t.Fatalf("uninstalled: %t, %v", took, err)
	}
	left, err := os.ReadFile(s.Path)
	if err != nil && len(before) == 0 {
		return // nothing was in it
	}
	if err == nil {
		err = json.Unmarshal(left, &after)
	}
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%s\nbecame\n%s, %v", text, left, err)
	}
}

// TestHooksStay: hooks of others stay, also in a group with ours, and a file looks as it did before.
func TestHooksStay(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"none":     "",
		"indented": "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"say <done> && true\"}]}\n\t\t]\n\t},\n\t\"model\": \"x\"\n}\n",
		"compact":  `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"own"}]}],"PreToolUse":[]}}`,
		"others":   `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo codeloops gate --hook claude is on"},{"type":"command","command":"x gate --hook claudette"}]}]}}`,
		"comments": "{\n  // mine\n  \"hooks\": {\n    \"Stop\": [\n      // first\n      {\"hooks\": []},\n    ],\n  },\n}\n",
	} {
		s := hooks(t, "claude", before)
		for range 2 {
			if err := s.Install(`'/it'\''s here/x' gate --hook claude --check 'a && b > c'`, []string{"UserPromptSubmit", "Stop"}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		got, _ := os.ReadFile(s.Path)
		if strings.Count(string(got), "--check 'a && b > c'") != 2 {
			t.Errorf("%s: installed\n%s", name, got)
		}
		if took, err := s.Uninstall(); !took || err != nil {
			t.Errorf("%s: %t, %v", name, took, err)
		}
		if got, _ := os.ReadFile(s.Path); string(got) != before {
			t.Errorf("%s: afterwards\n%s\nwant\n%s", name, got, before)
		}
	}
	s := hooks(t, "claude", `{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"own"},{"type":"command","command":"codeloops gate --hook claude"}]}]}}`)
	if took, err := s.Uninstall(); !took || err != nil {
		t.Errorf("%t, %v", took, err)
	}
	if got, _ := os.ReadFile(s.Path); string(got) != `{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"own"}]}]}}` {
		t.Errorf("in a group of the user's: %s", got)
	}
}

// TestTrusted: Codex runs a hook if it knows its hash. Those here are what `codex app-server` 0.171.0 says of them.
func TestTrusted(t *testing.T) {
	t.Parallel()
	s := hooks(t, "codex", "")
	if err := s.Install("codeloops gate --hook codex", []string{"UserPromptSubmit", "Stop"}); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(filepath.Dir(s.Path), "config.toml")
	state := func(event, of string) string {
		return "[hooks.state.\"" + s.Path + ":" + event + ":0:0\"]\ntrusted_hash = \"sha256:" + of + "\"\n"
	}
	stop := state("stop", "c8d7ee32245e78ad03a31869133dcc9405789f3c4584185d38a377a10f77b3e0")
	prompt := state("user_prompt_submit", "48607d9e0033dba8830a5a5b9e10c1fc5da7866e87e3651fe25f3d00453e06c6")
	for name, c := range map[string]struct {
		config string
		want   bool
	}{
		"nothing known": {"model = \"x\"\n", false},
		"one of them":   {stop, false},
		"both":          {prompt + stop, true},
		"switched off":  {prompt + stop + "enabled = false\n", false},
		"changed since": {prompt + state("stop", "0000"), false},
	} {
		if err := os.WriteFile(config, []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Trusted(); got != c.want || err != nil {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}

// hooks are those of a user with a home of their own; "" is no file.
func hooks(t *testing.T, agent, text string) clients.Hooks {
	t.Helper()
	s, err := clients.HooksOf(&host.Host{Environ: []string{"HOME=" + t.TempDir()}}, agent, "")
	if err == nil && text != "" {
		if err = os.MkdirAll(filepath.Dir(s.Path), 0o700); err == nil {
			err = os.WriteFile(s.Path, []byte(text), 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package gate

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestPrompts(t *testing.T) {
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
		if got := strings.Join(prompts(path), ""); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := prompts(t.TempDir()); got != nil {
		t.Errorf("a directory holds %q", got)
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

// FuzzSettings: whatever is in the settings of an agent is there after the gate was installed, and when it is gone again.
func FuzzSettings(f *testing.F) {
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
	s := Settings{Agent: Claude, File: filepath.Join(t.TempDir(), "settings.json")}
	if err := os.WriteFile(s.File, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Install("codeloops gate --hook claude", []string{"Stop"}); err != nil {
		return // it is refused, and nothing was written
	}
	if events, err := s.Events(); err != nil || !slices.Contains(events, "Stop") {
		t.Fatalf("installed for %v, %v", events, err)
	}
	if took, err := s.Uninstall(); err != nil || !took {
		t.Fatalf("uninstalled: %t, %v", took, err)
	}
	left, err := os.ReadFile(s.File)
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

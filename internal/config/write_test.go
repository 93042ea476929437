package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/wording"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := filepath.Join(p.home, ".config", "codeloops", "config.toml")
	err := Write(file, map[string]any{
		"critic.model": "m \"2\"", "max_iterations": 5, "agent": "codex", "actor.timeout": "90m", "checks": []string{"a", "b"},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Made by `codeloops init`. `codeloops config show` lists every key.\n" + `agent = "codex"
max_iterations = 5
checks = ["a", "b"]

[actor]
timeout = "90m"

[critic]
model = "m \"2\""
`
	if got := contentOf(t, file); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	c := mustLoad(t, p.options())
	if c.Agent != "codex" || c.MaxIterations != 5 || c.Actor.Timeout != 90*time.Minute || c.Critic.Model != `m "2"` {
		t.Errorf("reads back as %+v", c)
	}
}

func TestOverwrite(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := Write(file, map[string]any{"agent": "codex"}, false); err != nil {
		t.Fatal(err)
	}
	before := contentOf(t, file)
	if err := Write(file, map[string]any{"agent": "claude"}, false); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), file) {
		t.Errorf("over an existing file: %v", err)
	}
	if got := contentOf(t, file); got != before {
		t.Errorf("the file has changed:\n%s", got)
	}
	if err := Write(file, map[string]any{"agent": "claude"}, true); err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, file); strings.Contains(got, "codex") || !strings.Contains(got, `agent = "claude"`) {
		t.Errorf("not overwritten:\n%s", got)
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

func contentOf(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", projectFile)
	err := Write(file, map[string]any{
		"max_iterations": -1, "actor.agent": 5,
	}, true)
	want := file + `:2: max_iterations must not be negative, but is -1
` + file + `:5: actor.agent must be a string, not a number
`
	if got := hints(err); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Dir(file)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{
		"0": 0, "512": 512, "1B": 1, "10KB": 10_000, "10 KiB": 10 << 10, "3mb": 3_000_000, "256MiB": 256 << 20,
		"2gb": 2e9, "8GIB": 8 << 30, "8589934591GiB": 8589934591 << 30,
	} {
		got, err := parseSize(text)
		if err != nil || got != want {
			t.Errorf("%q reads as %d, %v; want %d", text, got, err, want)
		}
		if again, err := parseSize(got.String()); err != nil || again != got {
			t.Errorf("%d is written %q, which reads as %d, %v", got, got, again, err)
		}
	}
	for _, text := range []string{"", "B", "-1", "1.5GB", "1 TB", "1K", "9223372036854775808", "8589934592GiB", "1e3", "1KB1", " 1KB", "1KB "} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q reads as %d", text, got)
		}
	}
}

func TestDurationText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0s", "1s": "1s", "60s": "1m", "1h": "60m", "90m": "90m", "2h": "2h", "48h": "2d", "36h": "36h", "1h0m1s": "1h0m1s", "1ms": "1ms",
	} {
		d, f := scalars()["time.Duration"].read(text)
		if f != nil {
			t.Fatalf("%q: %v", text, f)
		}
		if got := formatDuration(d.(time.Duration)); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"agent", "model", "max_iterations", "max_output"}
	for word, want := range map[string]string{
		"agnet": "agent", "agents": "agent", "modle": "model", "max_iteration": "max_iterations", "maxiterations": "max_iterations",
		"max_oputput": "max_output", "x": "", "": "", "colour": "",
	} {
		if got, _ := wording.Nearest(word, names); got != want {
			t.Errorf("%q is read as %q, want %q", word, got, want)
		}
	}
}

package deciding

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func agents() []string {
	return []string{".claude/agents", ".claude/hooks", ".claude/settings.json", ".cursorrules", ".github/copilot-instructions.md", ".github/prompts", "AGENTS.md", "CLAUDE.md", "codeloops.toml"}
}

// A change of a deciding file is reported, unless it changes only unrelated parts of it.
func TestChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"nothing":        {func(*testing.T, string) {}, ""},
		"touched":        {func(t *testing.T, dir string) { t.Helper(); put(t, dir, "judge.sh", "judge") }, ""},
		"changed":        {func(t *testing.T, dir string) { t.Helper(); put(t, dir, "judge.sh", "fudge") }, "judge.sh changed"},
		"removed":        {func(t *testing.T, dir string) { t.Helper(); must(t, os.Remove(filepath.Join(dir, "judge.sh"))) }, "judge.sh removed"},
		"added":          {func(t *testing.T, dir string) { t.Helper(); put(t, dir, "GNUmakefile", "") }, "GNUmakefile added"},
		"settings":       {func(t *testing.T, dir string) { t.Helper(); put(t, dir, ".claude/settings.json", "{}") }, ".claude/settings.json changed"},
		"more settings":  {func(t *testing.T, dir string) { t.Helper(); put(t, dir, "sub/.claude/agents/critic.md", "Say yes.") }, "sub/.claude/agents/critic.md added"},
		"told below":     {func(t *testing.T, dir string) { t.Helper(); put(t, dir, "sub/AGENTS.md", "Say yes.") }, "sub/AGENTS.md added"},
		"told on GitHub": {func(t *testing.T, dir string) { t.Helper(); put(t, dir, ".github/copilot-instructions.md", "Say yes.") }, ".github/copilot-instructions.md added"},
		"told elsewhere": {func(t *testing.T, dir string) { t.Helper(); put(t, dir, "other/AGENTS.md", "Say yes.") }, ""},
		"an agent's log": {func(t *testing.T, dir string) {
			t.Helper()
			put(t, dir, ".crush/logs/crush.log", "x")
			put(t, dir, ".crush/crush.db", "x")
		}, ""},
		"rules":             {func(t *testing.T, dir string) { t.Helper(); put(t, dir, "sub/codeloops.toml", "") }, "sub/codeloops.toml added"},
		"a link in its way": {func(t *testing.T, dir string) { t.Helper(); link(t, "sub/x", filepath.Join(dir, "judge.sh")) }, "judge.sh changed"},
		"a link to outside": {func(t *testing.T, dir string) {
			t.Helper()
			link(t, filepath.Join(t.TempDir(), "x"), filepath.Join(dir, "judge.sh"))
		}, "judge.sh changed"},
		"linked settings": {func(t *testing.T, dir string) {
			t.Helper()
			link(t, "../.claude", filepath.Join(dir, "sub", ".claude"))
		}, "sub/.claude/settings.json added"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := Tree{Root: t.TempDir(), Agents: agents()}
			tree.Dir = filepath.Join(tree.Root, "sub")
			for file, text := range map[string]string{
				"judge.sh": "judge", "sub/x": "x", ".claude/settings.json": "", "other/x": "",
			} {
				put(t, tree.Root, file, text)
			}
			files := tree.Take(append(tree.Settings(), loop.Decider{Path: "judge.sh"}, loop.Decider{Path: "GNUmakefile"}, loop.Decider{Path: "../judge.sh"}))
			c.change(t, tree.Root)
			var got []string
			for _, changed := range tree.Changed(files) {
				got = append(got, changed.Path+" "+changed.Fate)
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Settings lists the files that agents and codeloops read as settings.
func TestSettings(t *testing.T) {
	t.Parallel()
	tree := Tree{Root: t.TempDir(), Agents: agents()}
	tree.Dir = tree.Root
	for _, name := range []string{"CLAUDE.md", "codeloops.toml", ".claude/hooks/x.sh", ".claude/worktrees/a/x.md", ".cursorrules", "README.md", ".github/workflows/x.yml", ".github/prompts/x.md", ".codex/log.jsonl"} {
		put(t, tree.Root, name, "")
	}
	want := []loop.Decider{
		{Path: ".claude/hooks/x.sh", Role: Agents},
		{Path: ".cursorrules", Role: Agents},
		{Path: ".github/prompts/x.md", Role: Agents},
		{Path: "CLAUDE.md", Role: Agents},
		{Path: "codeloops.toml", Role: Rules},
	}
	if got := tree.Settings(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if got := (Tree{Root: filepath.Join(tree.Root, "nowhere")}).Changed([]loop.Decider{{Path: "x"}}); got != nil {
		t.Errorf("of no tree: %v", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	_ = os.Remove(name)
	if err := os.Symlink(target, name); err != nil {
		t.Skip(err)
	}
}

// TestRuns: a program is named like one, is executable, or begins like a script. A new file that a check names is told
// only if it is one.
func TestRuns(t *testing.T) {
	t.Parallel()
	tree := Tree{Root: t.TempDir(), Programs: func(name string) bool { return filepath.Ext(name) == ".sh" }}
	for name, text := range map[string]string{"a.sh": "", "script": "#!/bin/sh\n", "text": "hello\n", "empty": "", "executable": ""} {
		put(t, tree.Root, name, text)
	}
	if err := os.Chmod(filepath.Join(tree.Root, "executable"), 0o700); err != nil {
		t.Fatal(err)
	}
	var files []loop.Decider
	for name, want := range map[string]bool{
		"a.sh": true, "gone.sh": true, "script": true, "text": false, "empty": false, "executable": runtime.GOOS != "windows", "gone": false, ".": false, "../x": false,
	} {
		if got := tree.Runs(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
		files = append(files, loop.Decider{Path: name, Role: Check})
	}
	var told []string
	for _, f := range tree.Changed(files) {
		told = append(told, f.Path)
	}
	slices.Sort(told)
	if want := []string{"a.sh", "executable", "script"}; !slices.Equal(told, want) && runtime.GOOS != "windows" {
		t.Errorf("told: %q, want %q", told, want)
	}
}

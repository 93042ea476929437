package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

func TestFind(t *testing.T) {
	t.Parallel()
	own := Spec{Name: "codex", Needs: Needs{Install: "ours"}}
	if got, err := Find("codex", own); err != nil || got.Install != "ours" {
		t.Errorf("the user's own agent does not come first: %+v, %v", got, err)
	}
	for name, want := range map[string]string{
		"cluade":       `did you mean "claude"?`,
		"Codex":        `did you mean "codex"?`,
		"opencod":      `did you mean "opencode"?`,
		"cursor_agent": `did you mean "cursor-agent"?`,
		"mien":         `did you mean "mine"?`,
		"": "the agents are mine, claude, codex, opencode, gemini, qwen, copilot, cursor, pi, cline, " +
			"cn, droid, kilo, claude-gateway, amp, auggie, goose, crush",
	} {
		_, err := Find(name, Spec{Name: "mine"})
		if got, _ := hint.Of(err); !errors.Is(err, ErrUnknown) || got != want {
			t.Errorf("Find(%q): %v, want the hint %s", name, err, want)
		}
	}
}

func TestCatalogueIsRead(t *testing.T) {
	t.Parallel()
	if all, err := readCatalogue(); err != nil || len(all) == 0 {
		t.Error(len(all), err)
	}
}

func TestCatalogueNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range Catalogue() {
		for _, name := range append([]string{s.Name}, s.Aliases...) {
			if seen[name] != "" {
				t.Errorf("%q is both %s and %s", name, seen[name], s.Name)
			}
			seen[name] = s.Name
		}
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	equal(t, "codex", known("codex").CommandLine(loop.ReadOnly, "m"),
		[]string{
			"codex", "exec", "-s", "read-only", "--skip-git-repo-check", "--json", "-m", "m", "-",
			"-c", "project_doc_max_bytes=0", "-c", "skills.include_instructions=false",
		})
	spec := Custom("mine", CustomConfig{Command: []string{"a", "x"}, CriticCommand: []string{"b"}, Prompt: "arg"})
	equal(t, "own actor", spec.CommandLine(loop.Write, ""), []string{"a", "x", "{prompt}"})
	equal(t, "own critic", spec.CommandLine(loop.ReadOnly, ""), []string{"b", "{prompt}"})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir, bin, late := t.TempDir(), t.TempDir(), t.TempDir()
	path := []string{"PATH=" + bin + string(os.PathListSeparator) + late}
	program(t, filepath.Join(bin, "good"), 0o755)
	program(t, filepath.Join(bin, "plain"), 0o644)
	program(t, filepath.Join(dir, "tools", "local"), 0o755)
	program(t, filepath.Join(bin, "early"), 0o644)
	program(t, filepath.Join(late, "early"), 0o755)
	for _, test := range []struct {
		binaries []string
		want     string
		is       error
	}{
		{binaries: []string{"good"}, want: filepath.Join(bin, "good")},
		{binaries: []string{"absent", "good"}, want: filepath.Join(bin, "good")},
		{binaries: []string{"plain", "good"}, want: filepath.Join(bin, "good")},
		{binaries: []string{"early"}, want: filepath.Join(late, "early")},
		{binaries: []string{"./tools/local"}, want: filepath.Join(dir, "tools", "local")},
		{binaries: []string{filepath.Join(bin, "good")}, want: filepath.Join(bin, "good")},
		{binaries: []string{"plain"}, is: proc.ErrNotExecutable},
		{binaries: []string{"./tools"}, is: proc.ErrDirectory},
	} {
		got, err := Spec{Name: "mine", Program: Program{Binaries: test.binaries}}.Resolve(loop.Write, dir, path)
		if got != test.want || !errors.Is(err, test.is) {
			t.Errorf("%v: got %q, %v; want %q, %v", test.binaries, got, err, test.want, test.is)
		}
	}
}

func TestResolveMissing(t *testing.T) {
	t.Parallel()
	for _, s := range append(Catalogue(), Spec{Name: "mine", Program: Program{Binaries: []string{"./gone"}}, Needs: Needs{Install: "build it"}}) {
		_, err := s.Resolve(loop.ReadOnly, t.TempDir(), []string{"PATH=" + t.TempDir()})
		want := fmt.Sprintf("the agent %s is not installed: no program %q found", s.Name, s.Binaries[0])
		if got, _ := hint.Of(err); !errors.Is(err, ErrNotInstalled) || err.Error() != want || got != s.Setup() {
			t.Errorf("%s: got the error %v with the hint %q, want %s", s.Name, err, got, want)
		}
	}
}

func program(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	of := func(spec Spec, id string) loop.Conversation {
		return loop.Conversation{ID: id, Agent: loop.AgentRef{Agent: spec.Name, Model: "whatever"}}
	}
	for _, test := range []struct {
		spec Spec
		c    loop.Conversation
		want []string
	}{
		{known("codex"), of(known("codex"), "01-a"), []string{"exec", "resume", "01-a", "--dangerously-bypass-approvals-and-sandbox", "--json", "-m", "m", "-"}},
		{known("gemini"), of(known("gemini"), "a.b_c"), []string{"--approval-mode", "yolo", "-o", "stream-json", "-m", "m", "--resume", "a.b_c"}},
		{known("copilot"), of(known("copilot"), "x"), append(known("copilot").args(loop.Write, "m", loop.Conversation{}, ""), "--resume=x")},
		{known("gemini"), of(known("claude"), "a"), []string{"--approval-mode", "yolo", "-o", "stream-json", "-m", "m", "--session-id", "u-1"}},
		// The ID could be an option or is another agent's, or the agent cannot resume.
		{known("codex"), of(known("codex"), "--full-auto"), known("codex").args(loop.Write, "m", loop.Conversation{}, "")},
		{known("codex"), of(known("codex"), "a b"), known("codex").args(loop.Write, "m", loop.Conversation{}, "")},
		{known("codex"), of(known("claude"), "01-a"), known("codex").args(loop.Write, "m", loop.Conversation{}, "")},
		{known("cline"), of(known("cline"), "01-a"), known("cline").args(loop.Write, "m", loop.Conversation{}, "")},
		{known("auggie"), of(known("auggie"), "01-a"), known("auggie").args(loop.Write, "m", loop.Conversation{}, "")},
	} {
		equal(t, test.spec.Name+" "+test.c.ID, test.spec.args(loop.Write, "m", test.c, "u-1"), test.want)
	}
}

// TestResumedTurn runs two turns of a conversation as real processes. If the agent
// reports totals, the first turn's usage is subtracted.
func TestResumedTurn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		totals bool
		spent  loop.Tokens
		want   loop.Tokens
	}{
		{false, loop.Tokens{Input: 2}, loop.Tokens{Input: 5, Output: 6, CacheRead: 7}},
		{true, loop.Tokens{Input: 2, CacheRead: 9}, loop.Tokens{Input: 3, Output: 6}},
	} {
		s := newStage(t, "mine")
		s.speaks("claude-stream-json")
		spec := Custom("mine", CustomConfig{Command: []string{"mine"}, Output: "claude-stream-json"})
		spec.Resume, spec.ResumeTotals = []string{"--resume", holdConversation}, test.totals
		a := s.agent(spec, "")
		before := loop.Conversation{ID: "c-1", Agent: a.Ref(), Spent: loop.Usage{Tokens: &test.spent}}
		reply, c := s.play(a, Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 2, Repeat: Repeat{Leg: 1}, Conversation: before})
		equal(t, "arguments", c.Args, []string{"--resume", "c-1"})
		if !reply.Resumed || *reply.Usage.Tokens != test.want {
			t.Errorf("got %+v, want %+v", *reply.Usage.Tokens, test.want)
		}
		if _, err := os.Stat(filepath.Join(s.place.Outputs, "002.actor.leg1.stdout")); err != nil {
			t.Error(err)
		}
		if reply, c = s.play(a, Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 3}); reply.Resumed || len(c.Args) > 0 || reply.Usage.Tokens.Input != 5 {
			t.Errorf("a turn of a new conversation: %q, %+v", c.Args, reply.Turn)
		}
	}
}

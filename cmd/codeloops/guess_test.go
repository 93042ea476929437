package main

import (
	"strings"
	"testing"

	"codeloops/internal/cli/guess"
)

// TestGuessed: mistyped commands and habits from other tools are distinguished from prompts.
func TestGuessed(t *testing.T) {
	t.Parallel()
	root := newRootCmd(unwatched())
	for line, want := range map[string]string{
		"session list": "sessions list", "sesions list": "sessions list", "sesion list": "sessions list", "session": "sessions",
		"list": "sessions list", "lst": "sessions list", "lsit": "sessions list", "ls": "sessions list", "LIST": "sessions list",
		"show latest": "sessions show latest", "logs latest~1": "sessions show latest~1",
		"stats": "sessions stats", "ps": "status", "logs": "sessions show", "trust": "config trust",
		"codeloops stats": "sessions stats", "vresion": "version", "docter": "doctor", "comfig show": "config show",
		"remove latest": "sessions rm latest", "delete session 2026-11-22T09": "sessions rm", "resum": "resume",
		"start": "run", "continue": "resume", "show errors": "sessions show", "login claude": "doctor", "exprot": "sessions export",
		"search": "sessions list", "abort": "stop", "update": "", "upgrade codeloops": "", "attach": "watch", "satus": "status", "strategys": "strategies", "strategy": "strategies", "queue lst": "queue list", "queues": "queue", "-": "",
		"runn": "run", "runs": "sessions list",
	} {
		if g, ok := guess.Find(known(root), strings.Fields(line)); !ok || g.Command != want {
			t.Errorf("%q: %v, %q, want %q", line, ok, g.Command, want)
		}
	}
	for _, line := range []string{
		"fix tests", "add a README", "list the files and document them", "lint", "deploy", "test", "build", "format", "refactor",
		"remove dead code", "clean up code", "update deps", "update CHANGELOG", "upgrade react", "install husky", "revert last change",
		"commit changes", "set timeout 5", "open source it", "start server", "replace tabs", "report progress", "recover", "parser",
		"stay", "lost", "hold", "hi", "fix", "list users, sorted", "what is this?", "update README.md", "translate",
		"search is slow", "strategy pattern everywhere", "research it", "help the user login", "latest", "make it faster", "runn tests",
	} {
		if g, ok := guess.Find(known(root), strings.Fields(line)); ok {
			t.Errorf("%q is taken for %q (%s)", line, g.Command, g.Instead)
		}
	}
	if _, ok := guess.Find(known(root), []string{"list users"}); ok {
		t.Error("quoted words are taken for a command")
	}
}

// TestHabitsName: every command that a habit refers to exists.
func TestHabitsName(t *testing.T) {
	t.Parallel()
	root := newRootCmd(unwatched())
	for _, h := range guess.Habits() {
		if cmd, rest, err := root.Find(strings.Fields(h.Command)); h.Command != "" && (err != nil || len(rest) > 0 || cmd == root) {
			t.Errorf("%q is no command", h.Command)
		}
		if h.Command == "" && h.Instead == "" {
			t.Errorf("%q stands for nothing", h.Words)
		}
	}
}

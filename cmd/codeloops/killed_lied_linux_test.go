package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const held = `
[[actor]]
say = "done"
step = [{ run = "if test -e ../hold-actor; then touch ../actor; sh -c 'sleep 300; true' WORD; fi" }]
[[critic]]
say = "DECISION: DONE"
`

// killed starts a session, and kills codeloops while the actor works.
func (s *stage) killed() {
	s.t.Helper()
	s.write("hold-actor", "")
	cmd := s.codeloops("--", "task")
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.await("the actor", func() bool { return os.Remove(filepath.Join(s.dir, "actor")) == nil })
	if err := cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	s.awaitDeath()
	if err := os.Remove(filepath.Join(s.dir, "hold-actor")); err != nil {
		s.t.Fatal(err)
	}
}

// logs returns the paths of the sessions' logs.
func (s *stage) logs() []string {
	s.t.Helper()
	logs, err := filepath.Glob(filepath.Join(s.dir, "sessions", "*.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	return logs
}

// TestKilledAndLiedTo: an actor changes a file and forges the index so that the file seems
// unchanged; codeloops is killed. Another session starts from there. When the first one is resumed,
// it must see the change.
func TestKilledAndLiedTo(t *testing.T) {
	t.Parallel()
	s := newStage(t, held)
	s.sh(`cd work; echo harmless >a; touch -d yesterday a; git add -A; git -c user.name=A -c user.email=a@example.com commit -q -m files`)
	slack := 1100 * time.Millisecond // git compares times by the second
	time.Sleep(slack)
	s.killed()
	first := strings.TrimSuffix(filepath.Base(s.logs()[0]), ".jsonl")
	s.sh(`cd work; echo harmful >a; touch -d 'last week' a
		git config filter.lie.clean 'echo harmless'; echo 'a filter=lie' >.git/info/attributes; git add a
		rm .git/info/attributes; git config --remove-section filter.lie
		test -z "$(git status --porcelain)"`)
	time.Sleep(slack)
	s.killed()
	if n := len(s.logs()); n != 2 {
		t.Fatalf("%d sessions", n)
	}
	within, err := filepath.Glob(filepath.Join(s.dir, "work", ".git", "codeloops*"))
	if err != nil || len(within) != 1 || filepath.Base(within[0]) != "codeloops-lock" {
		t.Errorf("in the git directory: %v, %v", within, err)
	}
	cmd := s.codeloops()
	cmd.Args = append(cmd.Args[:1], "resume", "--agent", "scripted", "--script", "../scenario.toml", first)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "no changes") {
		t.Errorf("resume: %v\n%s", err, out)
	}
}

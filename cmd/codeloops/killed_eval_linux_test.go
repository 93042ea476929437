package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// TestEvalPaidOnce kills `codeloops eval judge` again and again. In the end each iteration has one verdict, and no session
// beside the one in which it was given has one. The user's repository is as it was.
func TestEvalPaidOnce(t *testing.T) {
	t.Parallel()
	const rounds = 8
	s := newStage(t, `
[[actor]]
step = [ { run = "date +%s%N >>work.txt; git add -A; git -c user.name=A -c user.email=a@example.com commit -qm work" } ]
[[critic]]
say = """
DECISION: CONTINUE
FEEDBACK: MUST: more
SEAL: {seal}"""
`)
	s.write("judge.toml", `
[[critic]]
step = [ { sleep = "20ms" } ]
say = """
DECISION: DONE
SUMMARY: fine
SEAL: {seal}"""
`)
	run := s.codeloops("-q", "-n", strconv.Itoa(rounds), "work on it, please, for long")
	if out, err := run.CombinedOutput(); run.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	before := s.repository()
	judge := func(ctx context.Context) *exec.Cmd {
		cmd := s.codeloops()
		again := exec.CommandContext(ctx, cmd.Path, "eval", "judge", "--critic", "scripted", "--script", "../judge.toml")
		again.Dir, again.Env = cmd.Dir, cmd.Env
		return again
	}
	kills := 12
	if testing.Short() {
		kills = 3
	}
	for range kills {
		ctx, kill := context.WithTimeout(t.Context(), time.Duration(100+rand.IntN(400))*time.Millisecond) // the end is SIGKILL
		_ = judge(ctx).Run()
		kill()
	}
	if out, err := judge(t.Context()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	given := s.given()
	if len(given) != rounds {
		t.Errorf("%d of %d iterations have a verdict", len(given), rounds)
	}
	for of, n := range given {
		if n != 1 {
			t.Errorf("%s was judged %d times", of, n)
		}
	}
	s.keeps(given)
	if after := s.repository(); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "sessions", "eval", "lanes")); err == nil {
		t.Error("the copies are still there")
	}
}

// given counts the sessions in which each iteration got a verdict.
func (s *stage) given() map[string]int {
	s.t.Helper()
	all, _ := filepath.Glob(filepath.Join(s.dir, "sessions", "eval", "logs", "scripted", "*.jsonl"))
	given := map[string]int{}
	for _, log := range all {
		of := session.Look(log).Session.Of
		for entry, err := range session.Read(log) {
			if whole, is := entry.Event.(loop.IterationFinished); err == nil && is && whole.Round.Review.Verdict.Decision == loop.Done {
				given[of]++
			}
		}
	}
	return given
}

// keeps compares the verdicts that were kept with those that were given.
func (s *stage) keeps(given map[string]int) {
	s.t.Helper()
	kept, err := os.ReadFile(filepath.Join(s.dir, "sessions", "eval", "verdicts.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(kept)) {
		var v struct{ Case, Decision string }
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.Decision != "DONE" || given[v.Case] == 0 {
			s.t.Errorf("%v: %s", err, line)
		}
		delete(given, v.Case)
	}
	if len(given) > 0 {
		s.t.Errorf("verdicts that were not kept: %v", given)
	}
}

// repository describes the user's work tree, index and references.
func (s *stage) repository() string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", "git for-each-ref; git rev-parse HEAD; sha256sum .git/index; find . -path ./.git -prune -o -printf '%p %s %T@\n' | sort")
	cmd.Dir, cmd.Env = filepath.Join(s.dir, "work"), s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

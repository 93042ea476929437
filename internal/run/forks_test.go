package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/view"
)

// attempts runs an actor and a critic in a fork, and applies the fork after a DONE. The user's
// actions run after the actor's turn, or after the review.
type attempts struct {
	apply     bool
	acted     func() error
	meanwhile func() error
}

func (a attempts) Run(ctx context.Context, s *loop.Steps) (out loop.Outcome, err error) {
	err = s.Fork(ctx, "attempt_1", func(ctx context.Context, in *loop.Steps) (bool, error) {
		round, err := in.Iterate(ctx, func(ctx context.Context, it *loop.Iteration) error {
			err := it.Act(ctx)
			if a.acted != nil {
				err = errors.Join(err, a.acted())
			}
			return errors.Join(err, it.Capture(ctx), it.Verify(ctx), it.Judge(ctx))
		})
		if err == nil && a.meanwhile != nil {
			err = a.meanwhile()
		}
		out = loop.Outcome{Reason: loop.StopDone, Summary: round.Verdict.Summary}
		return a.apply, err
	})
	if err == nil && a.apply && !s.Judged() {
		out.Summary += ", on another tree"
	}
	return out, err
}

// git runs git in the stage's work tree.
func (s *stage) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com"}, args...)...)
	cmd.Dir, cmd.Env = s.tree, s.host.Environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.tree, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// prepareFork makes a work tree with uncommitted changes and ignored files, and a plan whose actor makes
// all kinds of changes.
func prepareFork(t *testing.T) (*stage, *Plan) {
	t.Helper()
	s := newStage(t, "tree")
	s.write(".gitignore", "cache\n")
	s.write("old", "old\n")
	s.write("gone", "gone\n")
	s.git("add", ".")
	s.git("commit", "-qm", "first")
	s.write("mine", "mine\n")
	s.write("cache", "needed\n")
	o := s.options(`[[actor]]
step = [{ write = "new/file", content = "new\n" }, { run = "grep -q needed cache && echo more >> old" }, { delete = "gone" }, { write = "cache", content = "theirs\n" }, { run = "git add -A && git -c user.name=a -c user.email=a@example.com commit -qm work" }]
[[critic]]
check = "git status --short && grep new new/file && grep more old && ! test -e gone && echo critic > cache"
pass = "DECISION: DONE\nSUMMARY: good"
fail = "DECISION: CONTINUE\nFEEDBACK: {output}"
`)
	settings, err := NewSettings(append(o.Settings.flags, loop.Flag{Name: "check", Values: []string{"test -e new/file && touch by-check"}}))
	if err != nil {
		t.Fatal(err)
	}
	o.Settings = settings
	p, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return s, p
}

// TestForkApplied: an actor's work in a fork reaches the user's tree as a whole, after it was
// judged. Ignored files and the repository stay unchanged.
func TestForkApplied(t *testing.T) {
	t.Parallel()
	s, p := prepareFork(t)
	p.own.drive = attempts{apply: true}
	head, log := s.git("rev-parse", "HEAD"), &kept{}
	out, err := p.Run(t.Context(), log)
	if err != nil || out.Summary != "good" || log.End() != nil {
		t.Fatalf("%+v, %v, %v\n%s", out, err, log.End(), log.texts.String())
	}
	if got, want := s.git("status", "--short"), " D gone\n M old\n?? mine\n?? new/\n"; got != want || s.git("rev-parse", "HEAD") != head {
		t.Errorf("the work tree has\n%s", got)
	}
	if text, err := os.ReadFile(filepath.Join(s.tree, "cache")); err != nil || string(text) != "needed\n" {
		t.Errorf("the ignored file has %q, %v", text, err)
	}
	if strings.Contains(log.texts.String(), "is not as") || s.has("by-check") {
		t.Error("a write to a view reached the original")
	}
	s.noForks(p)
}

// noForks reports forks that were not removed.
func (s *stage) noForks(p *Plan) {
	s.t.Helper()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(p.own.log.File(1, "")), "forks*"))
	if err != nil || len(left) > 0 {
		s.t.Errorf("not removed: %v, %v", left, err)
	}
}

// TestForkDiscarded: a discarded fork leaves nothing behind.
func TestForkDiscarded(t *testing.T) {
	t.Parallel()
	s, p := prepareFork(t)
	p.own.drive = attempts{}
	if out, err := p.Run(t.Context()); err != nil || out.Summary != "good" {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := s.git("status", "--short"); got != "?? mine\n" {
		t.Errorf("the work tree has\n%s", got)
	}
	s.noForks(p)
}

// TestForkAndUser: the user's changes while a fork is at work are kept, and the tree counts as not
// judged. If both have changed the same file, nothing is applied.
func TestForkAndUser(t *testing.T) {
	t.Parallel()
	s, p := prepareFork(t)
	p.own.drive = attempts{apply: true, meanwhile: func() error { return os.WriteFile(filepath.Join(s.tree, "mine"), []byte("again\n"), 0o600) }}
	if out, err := p.Run(t.Context()); err != nil || out.Summary != "good, on another tree" {
		t.Fatalf("%+v, %v", out, err)
	}
	if text, err := os.ReadFile(filepath.Join(s.tree, "mine")); err != nil || string(text) != "again\n" || !s.has("new/file") {
		t.Errorf("the user's file is %q, %v", text, err)
	}

	s, p = prepareFork(t)
	p.own.drive = attempts{apply: true, meanwhile: func() error { return os.WriteFile(filepath.Join(s.tree, "old"), []byte("mine\n"), 0o600) }}
	out, err := p.Run(t.Context())
	if err != nil || !strings.HasSuffix(out.Summary, "since its copy was made, so nothing was applied: old") || out.Result != loop.Failed ||
		out.Reason != loop.StopConflict || !strings.HasSuffix(out.Cause, "/attempt_1.end") {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := s.git("status", "--short"); got != " M old\n?? mine\n" {
		t.Errorf("the work tree has\n%s", got)
	}
}

// nested plays in a fork of a fork.
type nested struct{ attempts }

func (n nested) Run(ctx context.Context, s *loop.Steps) (out loop.Outcome, err error) {
	err = s.Fork(ctx, "outer", func(ctx context.Context, in *loop.Steps) (bool, error) {
		out, err = n.attempts.Run(ctx, in)
		return true, err
	})
	return out, err
}

// TestForkIsFoundWhereTheTreeIs: agents, checks and critics see a fork, or a fork of a fork, at the
// path of the user's tree, with a repository that git can read. Their changes stay inside.
func TestForkIsFoundWhereTheTreeIs(t *testing.T) {
	t.Parallel()
	for name, strategy := range map[string]loop.Strategy{"fork": attempts{apply: true}, "fork of a fork": nested{attempts{apply: true}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "tree")
			s.write("old", "old\n")
			s.git("add", ".")
			s.git("commit", "-qm", "first")
			s.git("gc", "-q")
			at := s.tree + "/old"
			o := s.options(`[[actor]]
step = [{ run = "echo more >> ` + at + `; pwd; git log --format=%s; git add -A && git -c user.name=a -c user.email=a@example.com commit -qm work; cat ` + at + ` > copy" }]
[[critic]]
check = "grep -q more ` + at + ` && git log | grep -q work && git fsck"
pass = "DECISION: DONE\nSUMMARY: good"
fail = "DECISION: CONTINUE\nFEEDBACK: {output}"
`)
			settings, err := NewSettings(append(o.Settings.flags, loop.Flag{Name: "check", Values: []string{"git log | grep -q work && grep -q more " + at}}))
			if err != nil {
				t.Fatal(err)
			}
			o.Settings = settings
			p, err := Prepare(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			runner := proc.NewRunner(time.Now)
			defer runner.Close()
			place := p.tree.Views(runner)
			if kind, err := place.Use(t.Context(), view.Auto); err != nil || kind != view.Overlay {
				t.Skip("there are no overlays here")
			}
			p.own.drive = strategy
			log := &kept{}
			out, err := p.Run(t.Context(), log)
			if err != nil || out.Summary != "good" || !strings.Contains(log.texts.String(), s.tree+"\nfirst\n") {
				t.Fatalf("%+v, %v\n%s", out, err, log.texts.String())
			}
			if text, err := os.ReadFile(filepath.Join(s.tree, "copy")); err != nil || string(text) != "old\nmore\n" {
				t.Errorf("copied: %q, %v", text, err)
			}
			if got := s.git("log", "--format=%s"); got != "first\n" {
				t.Errorf("the user's repository has %q", got)
			}
			s.noForks(p)
		})
	}
}

// withDependencies makes a work tree with an ignored directory that is too large to be copied, and
// a plan whose actor and critic run scripts in a fork.
func withDependencies(t *testing.T, actor, critic string) (*stage, *Plan) {
	t.Helper()
	s := newStage(t, "tree")
	s.write(".gitignore", "node_modules\n*.log\n")
	s.write("README", "read\n")
	s.write("gone", "gone\n")
	for _, dir := range []string{"node_modules/a", "node_modules/b", "web/node_modules/c", "web/src", ".venv/lib"} {
		if err := os.MkdirAll(filepath.Join(s.tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 120 {
			s.write(fmt.Sprintf("%s/%d", dir, i), dir)
			if dir == "web/src" {
				break
			}
		}
	}
	s.write(".venv/.gitignore", "*\n")
	if err := os.Symlink(filepath.Join(s.tree, "README"), filepath.Join(s.tree, "absolute")); err != nil {
		t.Fatal(err)
	}
	s.git("add", ".")
	s.git("commit", "-qm", "first")
	o := s.options("[[actor]]\nstep = [{ run = '''set -e\ncd " + s.tree + "\n" + actor + "''' }]\n[[critic]]\ncheck = '''set -e\ncd " + s.tree + "\n" + critic +
		"'''\npass = \"DECISION: DONE\\nSUMMARY: good\"\nfail = \"DECISION: CONTINUE\\nFEEDBACK: {output}\"\n")
	settings, err := NewSettings(append(o.Settings.flags, loop.Flag{Name: "check", Values: []string{"test ! -e node_modules/b && grep -q changed node_modules/a/1 && touch node_modules/a/by-check"}}))
	if err != nil {
		t.Fatal(err)
	}
	o.Settings = settings
	p, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	runner := proc.NewRunner(time.Now)
	defer runner.Close()
	place := p.tree.Views(runner)
	if kind, err := place.Use(t.Context(), view.Auto); err != nil || kind != view.Overlay {
		t.Skip("there are no overlays here")
	}
	return s, p
}

// A forkOf plays in a fork, or in a fork of one, and records the directory of the innermost one.
type forkOf struct {
	attempts
	depth int
}

func (f forkOf) Run(ctx context.Context, s *loop.Steps) (out loop.Outcome, err error) {
	if f.depth == 1 {
		return f.attempts.Run(ctx, s)
	}
	f.depth--
	err = s.Fork(ctx, loop.Step(fmt.Sprintf("outer_%d", f.depth)), func(ctx context.Context, in *loop.Steps) (bool, error) {
		out, err = f.Run(ctx, in)
		return f.apply, err
	})
	return out, err
}

// TestForkShowsDependencies: ignored directories are visible in a fork, at the path of the user's
// tree, without being copied. Changes to them stay in the fork, and none of the user's other files
// are visible.
func TestForkShowsDependencies(t *testing.T) {
	t.Parallel()
	for depth := 1; depth <= 3; depth++ {
		t.Run(strconv.Itoa(depth), func(t *testing.T) {
			t.Parallel()
			s, p := withDependencies(t, `test "$(ls node_modules/a | wc -l)" = 120; test -e web/node_modules/c/5; test -e .venv/lib/5
git diff --quiet HEAD; grep -q read absolute; test -z "$(git status --porcelain)"
echo changed > node_modules/a/1; rm -r node_modules/b; mkdir node_modules/d; echo new > node_modules/d/1; touch .venv/lib/new; rm -r web/node_modules; echo x > a.log
rm gone; echo more >> README; mv web/src web/lib; git add -A; git -c user.name=a -c user.email=a@example.com commit -qm work; rm -r .venv/lib`,
				`test ! -e gone; test ! -e theirs; test ! -e web/theirs; test ! -e web/src; test -e web/lib/0; test ! -e web/node_modules; test -e node_modules/d/1; test ! -e node_modules/b; test ! -e node_modules/a/by-check
grep -q more README; test -e a.log; test ! -e .venv/lib; test -e .venv/.gitignore; test -z "$(git status --porcelain)"; touch node_modules/by-critic`)
			looked := 0
			p.own.drive = forkOf{depth: depth, attempts: attempts{apply: true, acted: func() error {
				s.write("theirs", "theirs")
				return os.MkdirAll(filepath.Join(s.tree, "web/theirs"), 0o755)
			}, meanwhile: func() error {
				looked++
				home := filepath.Join(filepath.Dir(p.own.log.File(1, "")), "forks")
				copied, err := filepath.Glob(filepath.Join(home, "*", "tree", "*", "node_modules", "a", "2"))
				if err != nil || len(copied) > 0 {
					t.Errorf("copied: %q, %v", copied, err)
				}
				return nil
			}}}
			log := &kept{}
			out, err := p.Run(t.Context(), log)
			if err != nil || !strings.HasPrefix(out.Summary, "good") || looked != 1 {
				t.Fatalf("%+v, %v\n%s", out, err, log.texts.String())
			}
			if got, want := s.git("status", "--short"), " M README\n D gone\n D web/src/0\n?? theirs\n?? web/lib/\n"; got != want {
				t.Errorf("the work tree has\n%s", got)
			}
			for _, name := range []string{"node_modules/b/7", "web/node_modules/c/7", ".venv/lib/7"} {
				if !s.has(name) {
					t.Errorf("%s is gone", name)
				}
			}
			for _, name := range []string{"node_modules/d", "a.log", ".venv/lib/new", "node_modules/by-critic", "node_modules/a/by-check"} {
				if s.has(name) {
					t.Errorf("%s was created", name)
				}
			}
			if text, err := os.ReadFile(filepath.Join(s.tree, "node_modules/a/1")); err != nil || string(text) != "node_modules/a" {
				t.Errorf("a dependency is %q, %v", text, err)
			}
			s.noForks(p)
		})
	}
}

// putBack plays a turn in a fork, restores the fork, and plays another turn.
type putBack struct{}

func (putBack) Run(ctx context.Context, s *loop.Steps) (out loop.Outcome, err error) {
	err = s.Fork(ctx, "attempt_1", func(ctx context.Context, in *loop.Steps) (bool, error) {
		turn := func() (loop.Round, error) {
			return in.Iterate(ctx, func(ctx context.Context, it *loop.Iteration) error {
				return errors.Join(it.Act(ctx), it.Capture(ctx), it.Judge(ctx))
			})
		}
		begun, err := in.Checkpoint(ctx, "attempt_1.begun")
		if err == nil {
			_, err = turn()
		}
		if err == nil {
			err = in.Restore(ctx, "attempt_1.back", begun.Checkpoint)
		}
		var round loop.Round
		if err == nil {
			round, err = turn()
		}
		out = loop.Outcome{Reason: loop.StopDone, Summary: round.Verdict.Summary}
		return true, err
	})
	return out, err
}

// TestForkPutBack: files that were removed in a fork can be restored next to visible ignored
// directories.
func TestForkPutBack(t *testing.T) {
	t.Parallel()
	s, p := withDependencies(t, `if test -e node_modules/b; then rm -r node_modules/b README web .gitignore; mkdir README; touch README/x theirs; exit; fi
grep read README; test -e web/src/0; test ! -e theirs; test -e web/node_modules/c/5; rm gone`,
		`test ! -e theirs; test ! -e node_modules/b; test -e README/x || test -e web/src/0`)
	p.own.drive = putBack{}
	log := &kept{}
	out, err := p.Run(t.Context(), log)
	if err != nil || out.Summary != "good" {
		t.Fatalf("%+v, %v\n%s", out, err, log.texts.String())
	}
	if got, want := s.git("status", "--short"), " D gone\n"; got != want {
		t.Errorf("the work tree has\n%s", got)
	}
}

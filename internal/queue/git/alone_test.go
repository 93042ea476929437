package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/git/gittest"
	"codeloops/internal/wording/hint"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

// TestFetchAmongWorkTrees: fetches, which read the HEADs of all work trees, do not fail while work trees are added
// and removed.
func TestFetchAmongWorkTrees(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	from := filepath.Join(r.State, "from.git")
	r.Git("clone", "--quiet", "--bare", r.Root, from)
	var all sync.WaitGroup
	for n := range 30 {
		head := r.In(from, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", strconv.Itoa(n))
		r.In(from, "update-ref", fmt.Sprintf("refs/heads/b%d", n), head)
		all.Go(func() {
			dir := filepath.Join(r.State, fmt.Sprintf("tree%d", n))
			if err := r.Trees().Add(t.Context(), "-b", fmt.Sprintf("t%d", n), dir, "main"); err != nil {
				t.Error(err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
			if err := r.Trees().Forget(dir); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := r.Trees().Alone(func() error {
				_, err := r.Run(t.Context(), r.Root, "fetch", "--quiet", from, fmt.Sprintf("refs/heads/b%d:refs/heads/b%[1]d", n))
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestTornWorkTree: if git is killed while it adds a work tree, it leaves an entry that breaks other git commands.
// Adding the next work tree removes such an entry, but only one of ours.
func TestTornWorkTree(t *testing.T) {
	t.Parallel()
	for _, is := range [][2]string{{"commondir", ""}, {"HEAD", ""}, {"HEAD", strings.Repeat("0", 40) + "\n"}} {
		file, half := is[0], is[1]
		r := gittest.New(t)
		home, err := r.Home(filepath.Join(r.State, "trees"), "places")
		if err != nil {
			t.Fatal(err)
		}
		at := func(name string) string { return filepath.Join(home, name) }
		theirs := filepath.Join(r.State, "theirs")
		for name, dir := range map[string]string{"whole": at("whole"), "torn": at("torn"), "theirs": theirs} {
			if err := r.Trees().Add(t.Context(), "-b", name, dir, "main"); err != nil {
				t.Fatal(err)
			}
		}
		entry := func(name string) string { return filepath.Join(r.CommonDir, "worktrees", name) }
		for name, text := range map[string]string{"locked": "initializing", file: half} {
			if err := os.WriteFile(filepath.Join(entry("torn"), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Trees().Add(t.Context(), "-b", "next", at("next"), "main"); err != nil {
			t.Errorf("%q in %s: %v", half, file, err)
		}
		for name, there := range map[string]bool{"whole": true, "torn": false, "theirs": true, "next": true} {
			if _, err := os.Lstat(entry(name)); (err == nil) != there {
				t.Errorf("%q in %s: the entry of %s: %v", half, file, name, err)
			}
		}
		if err := os.WriteFile(filepath.Join(entry("theirs"), file), []byte(half), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = r.Trees().Alone(func() error { return nil })
		if _, err := os.Lstat(entry("theirs")); err != nil {
			t.Errorf("%q in %s: %v", half, file, err)
		}
	}
}

// TestWorkTreeWhileAnotherIsMade: adding a work tree is retried while the user adds another one.
func TestWorkTreeWhileAnotherIsMade(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Git("worktree", "add", "--quiet", "-b", "theirs", filepath.Join(r.State, "theirs"))
	file := filepath.Join(r.CommonDir, "worktrees", "theirs", "commondir")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tries := 0
	if err := r.Trees().Alone(func() error {
		if tries++; tries == 3 {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := r.Run(t.Context(), r.Root, "worktree", "add", "--quiet", "--detach", filepath.Join(r.State, "ours"), "main")
		return err
	}); err != nil || tries != 3 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

// TestWorkTreeWhileAnotherIsRemoved: adding a work tree is retried when the directory of all entries goes, as it does
// with the last work tree of the user's.
func TestWorkTreeWhileAnotherIsRemoved(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	var remover sync.WaitGroup
	remover.Go(func() {
		for ctx.Err() == nil {
			_ = os.Remove(filepath.Join(r.CommonDir, "worktrees")) // fails unless it is empty
		}
	})
	for i := range 30 {
		dir := filepath.Join(r.State, fmt.Sprintf("tree-%d", i))
		if err := errors.Join(r.Trees().Add(t.Context(), "--detach", dir, "main"), r.Trees().Forget(dir)); err != nil {
			t.Error(err)
		}
	}
	cancel()
	remover.Wait()
}

// Instead runs a shell script instead of each command.
type instead struct {
	git.Starter
	script string
}

func (i instead) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	c.Argv = []string{"sh", "-c", i.script}
	return i.Starter.Run(ctx, c)
}

// TestKilledGit: a git command that was killed has not said that there is no such commit.
func TestKilledGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Starter = instead{r.Starter, "kill -9 $$"}
	if id, ok, err := r.Commit(t.Context(), "main"); err == nil || err.Error() != "git rev-parse: it was killed" {
		t.Errorf("main is %q, %v: %v", id, ok, err)
	}
}

// TestLockAdvice: only a lock that is there already may be one to remove.
func TestLockAdvice(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	starter := r.Starter
	for stderr, want := range map[string]bool{
		"fatal: Unable to create '/r/.git/index.lock': File exists.":            true,
		"fatal: sha1 file '/r/.git/index.lock' write error. Out of diskspace":   false,
		"fatal: Unable to create '/r/.git/index.lock': No space left on device": false,
	} {
		r.Starter = instead{starter, "echo \"" + stderr + "\" >&2; exit 128"}
		_, err := r.Run(t.Context(), r.Root, "add", ".")
		if advice, got := hint.Of(err); got != want {
			t.Errorf("%v: %q", err, advice)
		}
	}
}

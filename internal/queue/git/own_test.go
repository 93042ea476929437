package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/queue/git/gittest"
)

// TestPart: what commands do in a work tree that has parted stays there, except for its own branch and its commits, and
// they find the settings and hooks that the repository had.
func TestPart(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	trees := r.Trees()
	dir := filepath.Join(r.State, "tree")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(trees.Add(t.Context(), "-b", "mine", dir, "main"))
	must(trees.CheckOut(t.Context(), dir))
	r.Write("scripts/hook", "#!/bin/sh\necho hooked >&2\n")
	must(os.Chmod(filepath.Join(r.Root, "scripts/hook"), 0o700))
	must(os.MkdirAll(filepath.Join(r.CommonDir, "hooks"), 0o700))
	must(os.Symlink("../../scripts/hook", filepath.Join(r.CommonDir, "hooks", "pre-commit")))
	r.Write("shared.config", "[alias]\n\tshared = version\n")
	r.Git("config", "include.path", "../shared.config")
	r.Write("first", "stashed\n")
	r.Git("stash", "--quiet")
	r.Git("pack-refs", "--all")
	refs := func() string { return r.Git("for-each-ref", "refs/heads/main", "refs/heads/other", "refs/stash") }
	before, config := refs(), r.Text(r.CommonDir, "config")
	for _, round := range []string{"one", "two"} {
		must(trees.Part(t.Context(), dir, "mine"))
		if got := r.In(dir, "config", "alias.shared"); got != "version" {
			t.Errorf("the alias is %q", got)
		}
		common := r.In(dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
		if text := r.Text(common, "hooks/pre-commit"); !strings.Contains(text, "hooked") {
			t.Errorf("the hook is %q", text)
		}
		if list := r.In(dir, "stash", "list"); strings.Contains(list, "on main") {
			t.Errorf("the stash has %q", list)
		}
		r.Put(dir, "first", round+"\n")
		r.In(dir, "stash", "--quiet")
		r.In(dir, "config", "core.abbrev", "9")
		r.In(dir, "commit", "--quiet", "--allow-empty", "-m", round)
		r.In(dir, "branch", "--force", "other")
		r.In(dir, "update-ref", "refs/heads/main", "HEAD")
		r.In(dir, "gc", "--quiet", "--prune=now")
		head := r.In(dir, "rev-parse", "HEAD")
		others, err := trees.Rejoin(t.Context(), dir, "mine")
		if must(err); round == "one" && !slices.Equal(others, []string{"main", "other"}) {
			t.Errorf("it has set %q", others)
		}
		if got := r.Git("rev-parse", "mine"); got != head {
			t.Errorf("its branch is at %s, not %s", got, head)
		}
		if now := refs(); now != before || r.Text(r.CommonDir, "config") != config {
			t.Errorf("the refs are\n%s\nand were\n%s", now, before)
		}
		r.Git("stash", "show", "-p")
	}
	r.Git("fsck", "--connectivity-only")
	must(os.RemoveAll(dir))
	must(trees.Forget(dir))
	if left, _ := os.ReadDir(filepath.Join(r.CommonDir, "codeloops-own")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

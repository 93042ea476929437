package putback

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/diff/difftest"
	"codeloops/internal/diff/restore"
	"codeloops/internal/loop"
)

// repository creates one with a commit of a state.
func repository(t *testing.T, s state) string {
	t.Helper()
	dir := t.TempDir()
	sh(t, dir, "init", "-q")
	write(t, dir, s)
	sh(t, dir, "add", "-A")
	sh(t, dir, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "base")
	return dir
}

// become makes the files of a directory those of a state.
func become(t *testing.T, dir string, s state) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != ".git" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, s)
}

func open(t *testing.T, dir string) *diff.Tree {
	t.Helper()
	tree, err := diff.Open(t.Context(), dir, diff.Options{
		Environ: []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	if err := tree.Baseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	return tree
}

// onDisk reads the files of a directory.
func onDisk(t *testing.T, dir string) state {
	t.Helper()
	s := state{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if entry.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			s[filepath.ToSlash(name)] = difftest.File{Mode: diff.Symlink, Content: target}
			return err
		}
		content, err := os.ReadFile(path)
		info, statErr := entry.Info()
		mode := diff.Regular
		if statErr == nil && info.Mode()&0o100 != 0 {
			mode = diff.Executable
		}
		s[filepath.ToSlash(name)] = difftest.File{Mode: mode, Content: string(content)}
		return errors.Join(err, statErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rebuild restores in a work tree the state that a change was captured from.
func rebuild(ctx context.Context, tree *diff.Tree, c loop.Change) error {
	target, _, err := patched(ctx, tree, c)
	if err != nil {
		return err
	}
	way, err := tree.PlanRestore(ctx, target)
	if err != nil || len(way.Changes) == 0 {
		return err
	}
	kept, err := os.MkdirTemp("", "kept-")
	if err != nil {
		return err
	}
	keep := &restore.Keep{Dir: kept, Now: time.Now}
	_, err = keep.Restore(ctx, tree.Root(), restore.Plan{Changes: way.Changes})
	return errors.Join(err, os.RemoveAll(kept))
}

// TestRebuild: a change captured in one work tree can be rebuilt in another, byte for byte. If the
// session began with uncommitted changes, they must be there.
func TestRebuild(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		start, first, second := states(seed)
		committed := start
		if dirty := seed%2 == 1; dirty {
			committed, start = start, first
		}
		dir := repository(t, committed)
		become(t, dir, start)
		tree := open(t, dir)
		become(t, dir, second)
		change, err := tree.Capture(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		other := repository(t, committed)
		become(t, other, start)
		if err := rebuild(t.Context(), open(t, other), change); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := onDisk(t, other); !maps.Equal(got, second) {
			t.Fatalf("seed %d: the files differ:\n%v\n%v", seed, got, second)
		}
	}
}

// TestRebuildOnAnother: if files differ from the session's start, all of them are named and nothing
// is changed.
func TestRebuildOnAnother(t *testing.T) {
	t.Parallel()
	start := state{"a": {Mode: diff.Regular, Content: "one\n"}, "b": {Mode: diff.Regular, Content: "two\n"}, "gone": {Mode: diff.Regular, Content: "x\n"}}
	dir := repository(t, start)
	tree := open(t, dir)
	end := state{"a": {Mode: diff.Regular, Content: "1\n"}, "b": {Mode: diff.Executable, Content: "two\n"}, "new": {Mode: diff.Regular, Content: "n\n"}}
	become(t, dir, end)
	change, err := tree.Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := repository(t, start)
	now := state{"a": {Mode: diff.Regular, Content: "mine\n"}, "b": {Mode: diff.Regular, Content: "two\n"}, "new": {Mode: diff.Regular, Content: "mine\n"}}
	become(t, other, now)
	err = rebuild(t.Context(), open(t, other), change)
	for _, name := range []string{"a: ", "gone: ", "new: "} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
	if got := onDisk(t, other); !maps.Equal(got, now) {
		t.Errorf("changed: %v", got)
	}
}

// TestRebuildStaysInside: forged diffs do not write outside of the work tree.
func TestRebuildStaysInside(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	start := state{"link": {Mode: diff.Symlink, Content: outside}, "kept": {Mode: diff.Regular, Content: "kept\n"}, ".gitignore": {Mode: diff.Regular, Content: "secret\n"}}
	for _, path := range []string{
		"../escaped", "a/../../escaped", "/tmp/escaped", "./kept", "a//b", "", "kept/", "link/escaped",
		".git/hooks/post-checkout", ".GIT/config", ".git", "a/.git/config", "git~1/config", ".git /config", ".git./config",
		".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "kept/below", "secret",
	} {
		dir := repository(t, start)
		if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("ignored\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := onDisk(t, dir)
		hooks := sh(t, dir, "config", "--list", "--local")
		change := loop.Change{Files: []loop.FileChange{
			{Path: "fine", Patch: "diff --git a/fine b/fine\nnew file mode 100644\n--- /dev/null\n+++ b/fine\n@@ -0,0 +1 @@\n+fine\n"},
			{Path: path, Patch: "diff --git a/" + path + " b/" + path + "\nnew file mode 100755\n--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+evil\n"},
		}}
		if err := rebuild(t.Context(), open(t, dir), change); err == nil {
			t.Errorf("%q was accepted", path)
		}
		if got := onDisk(t, dir); !maps.Equal(got, before) {
			t.Errorf("%q: the files are %v", path, got)
		}
		if entries, _ := os.ReadDir(outside); len(entries) > 0 {
			t.Fatalf("%q was written outside of the work tree", path)
		}
		if _, err := os.Stat(filepath.Join(dir, ".git", "hooks", "post-checkout")); err == nil || hooks != sh(t, dir, "config", "--list", "--local") {
			t.Errorf("%q was written to the repository", path)
		}
	}
	// A link that the same diff creates is not followed, either.
	dir := repository(t, state{"kept": {Mode: diff.Regular, Content: "kept\n"}})
	change := loop.Change{Files: []loop.FileChange{
		{Path: "way", Patch: "diff --git a/way b/way\nnew file mode 120000\n--- /dev/null\n+++ b/way\n@@ -0,0 +1 @@\n+" + outside + "\n\\ No newline at end of file\n"},
		{Path: "way/out", Patch: "diff --git a/way/out b/way/out\nnew file mode 100644\n--- /dev/null\n+++ b/way/out\n@@ -0,0 +1 @@\n+evil\n"},
	}}
	if err := rebuild(t.Context(), open(t, dir), change); err == nil {
		t.Error("a path below a link was accepted")
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Error("a file was written outside of the work tree")
	}
}

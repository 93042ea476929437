package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/store"
)

// A gitDir is a repository's git directory in which git is run.
type gitDir struct {
	t    *testing.T
	path string
	runs int
}

func newGitDir(t *testing.T) *gitDir {
	t.Helper()
	g := &gitDir{t: t, path: filepath.Join(t.TempDir(), "repo.git")}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", g.path).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return g
}

// Run implements store.Git.
func (g *gitDir) Run(ctx context.Context, dir string, args []string, stdin []byte) ([]byte, error) {
	g.runs++
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_DIR="+g.path, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	return cmd.Output()
}

func (g *gitDir) git(stdin string, args ...string) string {
	g.t.Helper()
	out, err := g.Run(g.t.Context(), g.path, args, []byte(stdin))
	if err != nil {
		g.t.Fatalf("git %s: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// blob adds a blob with git, and a commit that keeps it from being pruned.
func (g *gitDir) blob(content string) plumbing.Hash {
	g.t.Helper()
	id := g.git(content, "hash-object", "-w", "--stdin")
	tree := g.git("100644 blob "+id+"\tf\n", "mktree")
	g.git("", "update-ref", "refs/heads/"+id, g.git("", "commit-tree", tree, "-m", "m"))
	return plumbing.NewHash(id)
}

func (g *gitDir) objects() string { return filepath.Join(g.path, "objects") }

func (g *gitDir) store() *store.Store {
	s := store.New(store.Options{ObjectsDir: g.objects(), Dir: g.path})
	g.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			g.t.Error(err)
		}
	})
	return s
}

func checkBlob(t *testing.T, s *store.Store, id plumbing.Hash, want string) {
	t.Helper()
	got, err := s.Blob(t.Context(), id)
	if err != nil || string(got) != want {
		t.Errorf("blob %s is %q, %v; want %q", id, got, err, want)
	}
	if size, err := s.Size(t.Context(), id); err != nil || size != int64(len(want)) {
		t.Errorf("size of blob %s is %d, %v; want %d", id, size, err, len(want))
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	for _, content := range []string{"", "a", "a\n", strings.Repeat("x", 100_000)} {
		want := plumbing.NewHash(g.git(content, "hash-object", "--stdin"))
		if got := store.Sum(plumbing.BlobObject, []byte(content)); got != want {
			t.Errorf("id of %.10q is %s, git's %s", content, got, want)
		}
		if got, err := store.SumBlob(strings.NewReader(content), int64(len(content))); got != want || err != nil {
			t.Errorf("id of %.10q as a stream is %s, %v; git's %s", content, got, err, want)
		}
	}
	for _, size := range []int64{2, 4} {
		if _, err := store.SumBlob(strings.NewReader("abc"), size); err == nil {
			t.Errorf("no error for 3 bytes that were to be %d", size)
		}
	}
}

func TestBlobLooseAndPacked(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	loose := g.blob("loose\n")
	s := g.store()
	checkBlob(t, s, loose, "loose\n")
	g.git("", "gc", "-q")
	later := g.blob("later\n")
	checkBlob(t, s, loose, "loose\n")
	checkBlob(t, s, later, "later\n")
	g.git("", "repack", "-q", "-a", "-d")
	checkBlob(t, s, loose, "loose\n")
	checkBlob(t, s, later, "later\n")
	if !s.Has(loose) || s.Has(plumbing.NewHash(strings.Repeat("1", 40))) {
		t.Error("Has is wrong")
	}
}

// TestHasAfterPruning: what git has removed is no longer there, even if it could
// still be read.
func TestHasAfterPruning(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	kept, pruned := g.blob("kept\n"), g.blob("pruned\n")
	g.git("", "repack", "-q", "-a", "-d")
	s := g.store()
	if !s.Has(kept) || !s.Has(pruned) {
		t.Error("a packed blob is missing")
	}
	checkBlob(t, s, pruned, "pruned\n")
	g.git("", "update-ref", "-d", "refs/heads/"+pruned.String())
	g.git("", "repack", "-q", "-a", "-d")
	if !s.Has(kept) || s.Has(pruned) {
		t.Error("Has tells of what was")
	}
}

func TestBlobOfAlternates(t *testing.T) {
	t.Parallel()
	first, second, third := newGitDir(t), newGitDir(t), newGitDir(t)
	loose := first.blob("far\n")
	packed := second.blob("near\n")
	second.git("", "gc", "-q")
	borrow(t, second, first.objects())
	relative, err := filepath.Rel(third.objects(), second.objects())
	if err != nil {
		t.Fatal(err)
	}
	borrow(t, third, "# a comment\n"+relative)
	s := third.store()
	checkBlob(t, s, loose, "far\n")
	checkBlob(t, s, packed, "near\n")
}

func borrow(t *testing.T, g *gitDir, from string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.objects(), "info", "alternates"), []byte(from+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBlobByGit: git may have a blob that the store cannot find.
func TestBlobByGit(t *testing.T) {
	t.Parallel()
	g, empty := newGitDir(t), newGitDir(t)
	id := g.blob("remote\n")
	if _, err := empty.store().Blob(t.Context(), id); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("blob that is nowhere: %v", err)
	}
	runs := g.runs
	checkBlob(t, store.New(store.Options{ObjectsDir: empty.objects(), Dir: g.path, Git: g}), id, "remote\n")
	if g.runs == runs {
		t.Error("git was not asked")
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	s := g.store()
	keep := func(content string) plumbing.Hash {
		id := store.Sum(plumbing.BlobObject, []byte(content))
		if err := s.Keep(id, []byte(content)); err != nil {
			t.Fatal(err)
		}
		return id
	}
	small := keep("small")
	checkBlob(t, s, small, "small")
	if s.Has(small) {
		t.Error("a small blob was written")
	}
	if written, err := s.Persist(small); !written || err != nil || !s.Has(small) {
		t.Errorf("persist: %t, %v", written, err)
	}
	if written, err := s.Persist(store.Sum(plumbing.BlobObject, nil)); written || err != nil {
		t.Errorf("persist what is not kept: %t, %v", written, err)
	}
	big := strings.Repeat("x", 1<<20+1)
	if id := keep(big); !s.Has(id) || g.git("", "cat-file", "-s", id.String()) != "1048577" {
		t.Error("a big blob was not written")
	}
	large := strings.Repeat("x", store.Large+1)
	if id := keep(large); s.Has(id) {
		t.Error("a large blob was written")
	}
	var last plumbing.Hash
	for i := range 70 {
		last = keep(strings.Repeat("y", 1<<20-i))
	}
	if !s.Has(last) {
		t.Error("more than 64 MiB are in memory")
	}
}

func TestLargeBlob(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	content := strings.Repeat("x", store.Large+1)
	s := g.store()
	id, err := s.Stream(strings.NewReader(content), int64(len(content)))
	if err != nil || id != store.Sum(plumbing.BlobObject, []byte(content)) {
		t.Fatalf("stream: %s, %v", id, err)
	}
	if got := g.git("", "cat-file", "-s", id.String()); got != "20971521" {
		t.Errorf("git reads %s bytes", got)
	}
	if _, err := s.Blob(t.Context(), id); !errors.Is(err, store.ErrLarge) {
		t.Errorf("error %v", err)
	}
	if size, err := s.Size(t.Context(), id); size != int64(len(content)) || err != nil {
		t.Errorf("size %d, %v", size, err)
	}
	if _, err := s.Stream(strings.NewReader("short"), 6); err == nil {
		t.Error("no error for content that is too short")
	}
	if _, err := s.Stream(strings.NewReader("long"), 3); err == nil {
		t.Error("no error for content that is too long")
	}
	if left, _ := filepath.Glob(filepath.Join(g.objects(), "tmp_obj_*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

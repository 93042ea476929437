package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/store"
)

// A gitDir is a git directory in which git runs.
type gitDir struct {
	t    *testing.T
	path string
	runs atomic.Int64
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
func (g *gitDir) Run(ctx context.Context, c store.Call) ([]byte, error) {
	g.runs.Add(1)
	cmd := exec.CommandContext(ctx, "git", c.Args...)
	cmd.Dir, cmd.Stdin = c.Dir, bytes.NewReader(c.Stdin)
	cmd.Env = append(os.Environ(), "GIT_DIR="+g.path, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Env = append(cmd.Env, c.Env...)
	return cmd.Output()
}

func (g *gitDir) git(stdin string, args ...string) string {
	g.t.Helper()
	out, err := g.Run(g.t.Context(), store.Call{Dir: g.path, Args: args, Stdin: []byte(stdin)})
	if err != nil {
		g.t.Fatalf("git %s: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// blob adds a blob with git, and a reference that keeps it from being pruned.
func (g *gitDir) blob(content string) plumbing.Hash {
	g.t.Helper()
	id := g.git(content, "hash-object", "-w", "--stdin")
	tree := g.git("100644 blob "+id+"\tf\n", "mktree")
	g.git("", "update-ref", "refs/heads/"+id, g.git("", "commit-tree", tree, "-m", "m"))
	return plumbing.NewHash(id)
}

func (g *gitDir) objects() string { return filepath.Join(g.path, "objects") }

func (g *gitDir) store() *store.Store {
	s := store.New(store.Options{ObjectsDir: g.objects(), Git: g})
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
		if got, err := store.SumBlob(t.Context(), strings.NewReader(content), int64(len(content))); got != want || err != nil {
			t.Errorf("id of %.10q as a stream is %s, %v; git's %s", content, got, err, want)
		}
	}
	for _, size := range []int64{2, 4} {
		if _, err := store.SumBlob(t.Context(), strings.NewReader("abc"), size); err == nil {
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
	if !s.Has(t.Context(), loose) || s.Has(t.Context(), plumbing.NewHash(strings.Repeat("1", 40))) {
		t.Error("Has is wrong")
	}
}

// TestStoreWhilePacked: blobs stay readable while git repacks the open files.
func TestStoreWhilePacked(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	s := g.store()
	long := strings.Repeat("a line of many\n", 50_000)
	blobs := map[plumbing.Hash]string{}
	for _, how := range [][]string{
		{"repack", "-q", "-d"},
		{"multi-pack-index", "write"},
		{"repack", "-q", "-d"},
		{"gc", "-q", "--prune=now"},
		{"multi-pack-index", "write"},
		{"repack", "-q", "-a", "-d"},
		{"unpack-all"},
		{"gc", "-q", "--prune=now"},
	} {
		content := long + strings.Join(how, " ") + strconv.Itoa(len(blobs))
		blobs[g.blob(content)] = content
		readers := map[plumbing.Hash]io.ReadCloser{}
		for id := range blobs {
			r, err := s.Open(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			readers[id] = r
		}
		if how[0] == "unpack-all" {
			g.unpackAll()
		} else {
			g.git("", how...)
		}
		for id, content := range blobs {
			checkBlob(t, s, id, content)
			if !s.Has(t.Context(), id) {
				t.Errorf("%s: a blob is missing", how)
			}
			got, err := io.ReadAll(readers[id])
			if err = errors.Join(err, readers[id].Close()); err != nil || string(got) != content {
				t.Errorf("%s: %d bytes, %v; want %d", how, len(got), err, len(content))
			}
		}
	}
}

// unpackAll turns all objects into loose ones.
func (g *gitDir) unpackAll() {
	g.t.Helper()
	packs, err := filepath.Glob(filepath.Join(g.objects(), "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		g.t.Fatalf("packs %q, %v", packs, err)
	}
	for _, name := range packs {
		pack, err := os.ReadFile(name)
		if err != nil {
			g.t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Dir(name)); err != nil {
			g.t.Fatal(err)
		}
		g.git(string(pack), "unpack-objects", "-q")
	}
}

// TestHasAfterPruning: an object that git has removed is missing, even if it could still
// be read.
func TestHasAfterPruning(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	kept, pruned := g.blob("kept\n"), g.blob("pruned\n")
	g.git("", "repack", "-q", "-a", "-d")
	s := g.store()
	if !s.Has(t.Context(), kept) || !s.Has(t.Context(), pruned) {
		t.Error("a packed blob is missing")
	}
	checkBlob(t, s, pruned, "pruned\n")
	g.git("", "update-ref", "-d", "refs/heads/"+pruned.String())
	g.git("", "repack", "-q", "-a", "-d")
	if !s.Has(t.Context(), kept) || s.Has(t.Context(), pruned) {
		t.Error("Has reports a removed object")
	}
	if _, err := s.Blob(t.Context(), pruned); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a blob that is gone: %v", err)
	}
}

// TestBlobPromised: a blob can come from git if it is missing here.
func TestBlobPromised(t *testing.T) {
	t.Parallel()
	g, empty := newGitDir(t), newGitDir(t)
	id := g.blob("remote\n")
	if _, err := empty.store().Blob(t.Context(), id); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a blob that does not exist: %v", err)
	}
	runs := g.runs.Load()
	s := store.New(store.Options{ObjectsDir: empty.objects(), Git: empty, Dir: g.path, Promised: g})
	checkBlob(t, s, id, "remote\n")
	if g.runs.Load() == runs {
		t.Error("git was not asked")
	}
	must(t, s.Close())
}

// A liar is a git that always gives the same answer.
type liar string

// Run implements store.Git.
func (l liar) Run(context.Context, store.Call) ([]byte, error) {
	return []byte(l), nil
}

// TestBlobLied: a blob from git is returned only if its content matches its ID.
func TestBlobLied(t *testing.T) {
	t.Parallel()
	s := store.New(store.Options{ObjectsDir: newGitDir(t).objects(), Promised: liar("1")})
	checkBlob(t, s, store.Sum(plumbing.BlobObject, []byte("1")), "1")
	other := store.Sum(plumbing.BlobObject, []byte("2"))
	if got, err := s.Blob(t.Context(), other); err == nil {
		t.Errorf("it returns %q", got)
	}
	for _, says := range []string{"", "\n", " blob 1\n1\n", " blob 9\n1\n", " blob -1\n1\n", " blob 1", " blub 1\n1\n"} {
		s := store.New(store.Options{ObjectsDir: newGitDir(t).objects(), Git: liar(other.String() + says)})
		if got, err := s.Blob(t.Context(), other); err == nil {
			t.Errorf("%q: it returns %q", says, got)
		}
		must(t, s.Close())
	}
}

// TestFetch: many blobs are fetched by as few processes as a single one; large and
// missing ones are left out.
func TestFetch(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	s := g.store()
	ids := []plumbing.Hash{{1}, g.blob(strings.Repeat("x", store.Large+1))}
	for i := range 50 {
		ids = append(ids, g.blob(strconv.Itoa(i)))
	}
	runs := g.runs.Load()
	for range 2 {
		must(t, s.Fetch(t.Context(), ids[2:]))
		for i, id := range ids[2:] {
			checkBlob(t, s, id, strconv.Itoa(i))
		}
	}
	if n := g.runs.Load() - runs; n > 2 {
		t.Errorf("git was run %d times", n)
	}
	must(t, s.Fetch(t.Context(), ids))
	if _, err := s.Blob(t.Context(), ids[1]); !errors.Is(err, store.ErrLarge) {
		t.Errorf("the large one: %v", err)
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	own := filepath.Join(t.TempDir(), "own.git")
	s := g.store()
	must(t, s.KeepIn(own))
	keep := func(content string) plumbing.Hash {
		id := store.Sum(plumbing.BlobObject, []byte(content))
		must(t, s.Keep(id, []byte(content)))
		return id
	}
	small := keep("small")
	checkBlob(t, s, small, "small")
	if s.Has(t.Context(), small) {
		t.Error("a small blob was written")
	}
	must(t, s.Persist(small))
	must(t, s.Persist(store.Sum(plumbing.BlobObject, nil))) // never stored
	env, err := s.Environ()
	must(t, err)
	out, err := g.Run(t.Context(), store.Call{Dir: g.path, Args: []string{"cat-file", "blob", small.String()}, Env: env})
	if string(out) != "small" || err != nil || !s.Has(t.Context(), small) {
		t.Errorf("git reads %q, %v", out, err)
	}
	if id := keep(strings.Repeat("x", 1<<20+1)); !s.Has(t.Context(), id) {
		t.Error("a big blob was not written")
	}
	large := strings.Repeat("x", store.Large+1)
	if id := keep(large); s.Has(t.Context(), id) {
		t.Error("a large blob was written")
	}
	var last plumbing.Hash
	for i := range 70 {
		last = keep(strings.Repeat("y", 1<<20-i))
	}
	if !s.Has(t.Context(), last) {
		t.Error("more than 64 MiB are in memory")
	}
	if left := g.git("", "count-objects"); left != "0 objects, 0 kilobytes" {
		t.Errorf("in the user's repository: %s", left)
	}
}

// TestPassing: without a private repository, the store leaves nothing behind.
func TestPassing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)
	s := newGitDir(t).store()
	content := []byte(strings.Repeat("x", 1<<20+1))
	id := store.Sum(plumbing.BlobObject, content)
	for range 2 {
		must(t, s.Keep(id, content))
		if !s.Has(t.Context(), id) {
			t.Error("a big blob was not written")
		}
		must(t, s.Close())
		if left, err := os.ReadDir(tmp); len(left) > 0 || err != nil {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// checkLarge reads a large blob in pieces.
func checkLarge(t *testing.T, s *store.Store, id plumbing.Hash, size int64) {
	t.Helper()
	r, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.SumBlob(t.Context(), r, size)
	if err = errors.Join(err, r.Close()); got != id || err != nil {
		t.Errorf("blob %s is %s, %v", id, got, err)
	}
	if got, err := s.Size(t.Context(), id); got != size || err != nil {
		t.Errorf("size %d, %v; want %d", got, err, size)
	}
	_, err = s.Blob(t.Context(), id)
	if size > store.Large != errors.Is(err, store.ErrLarge) {
		t.Errorf("blob of %d bytes: %v", size, err)
	}
}

// TestLargeDeltas: blobs that git stores as deltas of large blobs can be read without
// loading a large one into memory.
//
//nolint:paralleltest // it counts what is allocated
func TestLargeDeltas(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred megabytes of packs")
	}
	g := newGitDir(t)
	g.git("", "config", "core.compression", "0")
	random := make([]byte, store.Large+100_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	large := string(random)
	contents := []string{large, large[:store.Large+1000] + "changed" + large[store.Large+1000:], large + "longer", large[1000:store.Large]}
	ids := make([]plumbing.Hash, len(contents))
	for i, content := range contents {
		ids[i] = g.blob(content)
	}
	g.git("", "repack", "-q", "-a", "-d", "-f", "--window=4")
	packs, err := filepath.Glob(filepath.Join(g.objects(), "pack", "*.idx"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs %q, %v", packs, err)
	}
	listing := g.git("", "verify-pack", "-v", packs[0])
	if !strings.Contains(listing, ids[3].String()+" blob   ") || strings.Count(listing, "chain length") < 1 {
		t.Fatalf("git made\n%s", listing)
	}
	s := g.store()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, content := range contents[:3] {
		checkLarge(t, s, ids[i], int64(len(content)))
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > store.Large/2 {
		t.Errorf("%d bytes were allocated", allocated)
	}
	checkLarge(t, s, ids[3], int64(len(contents[3])))
	checkBlob(t, s, ids[3], contents[3])
	must(t, s.Close())
}

func TestLargeBlob(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	content := strings.Repeat("x", store.Large+1)
	s, own := g.store(), filepath.Join(t.TempDir(), "own.git")
	must(t, s.KeepIn(own))
	b, err := s.Batch()
	must(t, err)
	id := plumbing.NewHash(g.git(content, "--git-dir="+own, "hash-object", "-w", "--stdin"))
	must(t, b.Write(t.Context()))
	if got := g.git("", "--git-dir="+own, "cat-file", "-s", id.String()); got != "20971521" {
		t.Errorf("git reads %s bytes", got)
	}
	checkLarge(t, s, id, int64(len(content)))
	must(t, b.Refer("refs/large", id))
	g.git("", "--git-dir="+own, "gc", "-q", "--prune=now")
	checkLarge(t, s, id, int64(len(content)))
}

// TestRoom: what a killed process has left in the room of the private repository is removed when that is opened an hour
// later. Before there is a repository, there is no room in it.
func TestRoom(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "[kept].git")
	s := store.New(store.Options{})
	must(t, s.KeepIn(dir))
	if got := s.Room(); got != "" {
		t.Errorf("the room is %q", got)
	}
	for name, age := range map[string]time.Duration{"codeloops-diff-1": 2 * time.Hour, "codeloops-diff-2": time.Minute, "other": 2 * time.Hour} {
		must(t, os.MkdirAll(filepath.Join(dir, name, "a"), 0o700))
		at := time.Now().Add(-age)
		must(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	must(t, s.KeepIn(dir))
	var left []string
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{"codeloops-diff-2", "other"}) || s.Room() != dir || s.Temporary(nil).Room() != "" {
		t.Errorf("left %q, room %q", left, s.Room())
	}
}

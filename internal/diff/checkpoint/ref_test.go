package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// A repository is one with two commits; the same for every test.
type repository struct {
	t             *testing.T
	dir           string // the git directory
	first, second string // commits
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: filepath.Join(t.TempDir(), "repo.git")}
	r.must("init", "-q", "--bare", r.dir)
	tree := r.must("write-tree")
	r.first = r.must("commit-tree", tree, "-m", "first")
	r.second = r.must("commit-tree", tree, "-m", "second")
	return r
}

func (r *repository) git(args ...string) (string, error) {
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = filepath.Dir(r.dir)
	const date = "2025-01-01T00:00:00Z"
	cmd.Env = append(os.Environ(), "GIT_DIR="+r.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r *repository) must(args ...string) string {
	r.t.Helper()
	out, err := r.git(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return out
}

// set writes a reference, by its name below the namespace.
func (r *repository) set(name, commit string) error {
	return refs{dir: r.dir}.set(r.t.Context(), Namespace+name, plumbing.NewHash(commit))
}

// refs returns what git sees, and the files that are there.
func (r *repository) refs() string {
	r.t.Helper()
	all := []string{r.must("for-each-ref")}
	err := filepath.WalkDir(filepath.Join(r.dir, "refs"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(r.dir, path)
		all = append(all, filepath.ToSlash(name)+" "+string(content))
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// TestSetRef does to one repository what git does to another.
func TestSetRef(t *testing.T) {
	t.Parallel()
	ours, gits := newRepository(t), newRepository(t)
	steps := []struct{ name, commit string }{
		{"s/0", ours.first},
		{"s/1", ours.first},
		{"s/1", ours.second},
		{"pack", ""},
		{"s/1", ours.first},
		{"s/2", ours.second},
		{"undone/0123", ours.first},
		{"delete", "s/2"},
		{"pack", ""},
		{"s/2", ours.first},
		{"delete", "s/0"},
		{"delete", "s/1"},
		{"delete", "s/2"},
		{"s", ours.first},
	}
	for _, step := range steps {
		switch step.name {
		case "pack":
			ours.must("pack-refs", "--all")
			gits.must("pack-refs", "--all")
		case "delete":
			ours.must("update-ref", "-d", Namespace+step.commit)
			gits.must("update-ref", "-d", Namespace+step.commit)
		default:
			if err := ours.set(step.name, step.commit); err != nil {
				t.Errorf("set %s: %v", step.name, err)
			}
			gits.must("update-ref", Namespace+step.name, step.commit)
		}
		if got, want := ours.refs(), gits.refs(); got != want {
			t.Fatalf("after %v there is\n%s\nwant\n%s", step, got, want)
		}
	}
}

// TestSetRefBeside: a name cannot be that of a reference and of a directory of
// some, whether these are packed or not. Empty directories are in nobody's way.
func TestSetRefBeside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ there, name string }{{"s", "s/1"}, {"s", "s/1/2"}, {"s/1/2", "s/1"}, {"s/1/2", "s"}, {"s1", "s"}, {"s", "s1"}} {
		for _, packed := range []bool{false, true} {
			r, gits := newRepository(t), newRepository(t)
			for _, r := range []*repository{r, gits} {
				r.must("update-ref", Namespace+c.there, r.first)
				if packed {
					r.must("pack-refs", "--all")
				}
			}
			_, gitErr := gits.git("update-ref", Namespace+c.name, r.second)
			before := r.refs()
			err := r.set(c.name, r.second)
			problem, conflict := errors.AsType[*RefError](err)
			if conflict && (*problem != RefError{Ref: Namespace + c.name, Other: Namespace + c.there} || !strings.Contains(problem.Hint(), c.there)) {
				t.Errorf("%v, packed %t: %v, %s", c, packed, err, problem.Hint())
			}
			if after := r.refs(); conflict && after != before {
				t.Errorf("%v, packed %t: there is\n%s\nwant\n%s", c, packed, after, before)
			}
			if (gitErr == nil) != (err == nil) || (err == nil) == conflict {
				t.Errorf("%v, packed %t: %v; git: %v", c, packed, err, gitErr)
			}
		}
	}
	r := newRepository(t)
	if err := os.MkdirAll(filepath.Join(r.dir, "refs/codeloops/s/1/2/3"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.set("s/1", r.first); err != nil || r.must("rev-parse", Namespace+"s/1") != r.first {
		t.Errorf("where there are empty directories: %v", err)
	}
}

// TestSetRefLocked: a lock that goes is waited for; one that stays was left by a
// process that was killed, and is taken away, if it can be.
func TestSetRefLocked(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	if err := r.set("s/1", r.first); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(r.dir, "refs", "codeloops", "s", "1.lock")
	hold := func() {
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hold()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (refs{dir: r.dir}).set(ctx, Namespace+"s/1", plumbing.NewHash(r.second)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	unlocked := make(chan error)
	time.AfterFunc(lockWait/10, func() { unlocked <- os.Remove(lock) })
	err := r.set("s/1", r.second)
	<-unlocked // it may be late, and then there was none any more
	if err != nil || r.must("rev-parse", Namespace+"s/1") != r.second {
		t.Errorf("after the lock: %v", err)
	}
	hold()
	if err := r.set("s/1", r.first); err != nil || r.must("rev-parse", Namespace+"s/1") != r.first {
		t.Errorf("with a lock that was left: %v", err)
	}
	if _, err := os.Lstat(lock); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(lock, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	err = r.set("s/1", r.second)
	problem, ok := errors.AsType[*RefError](err)
	if !ok || *problem != (RefError{Ref: "refs/codeloops/s/1", Lock: lock}) || !strings.Contains(problem.Hint(), lock) {
		t.Errorf("error %v", err)
	}
	if got := r.must("rev-parse", Namespace+"s/1"); got != r.first {
		t.Errorf("the reference is %s", got)
	}
}

// TestSetRefOutside: no symlink leads out of the repository, or to the branches.
func TestSetRefOutside(t *testing.T) {
	t.Parallel()
	r, outside := newRepository(t), t.TempDir()
	branches := r.must("for-each-ref")
	for _, to := range []string{"heads", outside} {
		_ = os.Remove(filepath.Join(r.dir, "refs", "codeloops"))
		if err := os.Symlink(to, filepath.Join(r.dir, "refs", "codeloops")); err != nil {
			t.Skip(err)
		}
		r.checkRefused("s/1", filepath.Join(r.dir, "refs", "codeloops"))
		if left := r.must("for-each-ref"); left != branches {
			t.Errorf("references %s", left)
		}
	}
	if left, err := os.ReadDir(outside); len(left) > 0 || err != nil {
		t.Errorf("written: %v, %v", left, err)
	}
	// A reference that is a symlink is replaced, not written through.
	if err := os.Remove(filepath.Join(r.dir, "refs", "codeloops")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "refs", "codeloops", "s"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "f"), filepath.Join(r.dir, "refs", "codeloops", "s", "1")); err != nil {
		t.Fatal(err)
	}
	if err := r.set("s/1", r.first); err != nil || r.must("rev-parse", Namespace+"s/1") != r.first {
		t.Errorf("a symlink in the place of the reference: %v", err)
	}
	if left, err := os.ReadDir(outside); len(left) > 0 || err != nil {
		t.Errorf("written: %v, %v", left, err)
	}
}

// TestSetRefName: what git takes for no name is not written.
func TestSetRefName(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	for _, name := range []string{"s/1", "s/a.b", "s", "", "s/", "/s", "s//1", "../s", "s/../1", "s/.1", "s/1.", "s/1.lock", "s.lock/1", "s/a b", "s/a\n", "s/a~1", `s\1`, "s/@", "s/@{1}", "s/é"} {
		_, gitErr := r.git("check-ref-format", Namespace+name)
		if name == "s/@" { // git has no objection when it is not alone
			gitErr = errors.New("refused")
		}
		if name == "s" {
			r.must("update-ref", "-d", Namespace+"s/1")
			r.must("update-ref", "-d", Namespace+"s/a.b")
		}
		err := r.set(name, r.first)
		if (err == nil) != (gitErr == nil) {
			t.Errorf("%q: %v; git: %v", name, err, gitErr)
		}
		if name == "s" {
			r.must("update-ref", "-d", Namespace+"s")
		}
	}
	r.must("fsck", "--strict")
}

// TestSetRefWorkTree: linked work trees have these references in common.
func TestSetRefWorkTree(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	linked := filepath.Join(t.TempDir(), "linked")
	r.must("worktree", "add", "-q", linked, r.first)
	common := r.must("-C", linked, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err := (refs{dir: common}).set(t.Context(), Namespace+"s/1", plumbing.NewHash(r.second)); err != nil {
		t.Fatal(err)
	}
	if got := r.must("--git-dir="+filepath.Join(linked, ".git"), "rev-parse", Namespace+"s/1"); got != r.second {
		t.Errorf("the reference is %s", got)
	}
}

// checkRefused: a reference is not written through a link.
func (r *repository) checkRefused(name, link string) {
	r.t.Helper()
	err := r.set(name, r.first)
	problem, ok := errors.AsType[*RefError](err)
	if !ok || *problem != (RefError{Ref: Namespace + name, Link: link}) || !strings.Contains(err.Error(), link+" is a symbolic link") || problem.Hint() == "" {
		r.t.Errorf("through the link %s: %v", link, err)
	}
}

// TestSetRefLinked: where the directory of all references is a link to that of a
// repository with the same objects, the reference is one of that repository. It is
// not written to any other place.
func TestSetRefLinked(t *testing.T) {
	t.Parallel()
	r, other := newRepository(t), newRepository(t)
	work := &repository{t: t, dir: filepath.Join(t.TempDir(), "work.git"), first: r.first, second: r.second}
	if err := os.Mkdir(work.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work.dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config", "refs", "packed-refs", "objects"} { // as git-new-workdir does
		if err := os.Symlink(filepath.Join(r.dir, name), filepath.Join(work.dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := work.set("s/1", work.first); err != nil || work.must("for-each-ref") != r.must("for-each-ref") || r.must("rev-parse", Namespace+"s/1") != r.first {
		t.Errorf("through links to a repository: %v", err)
	}
	r.must("pack-refs", "--all")
	err := work.set("s/1/2", work.first)
	if problem, ok := errors.AsType[*RefError](err); !ok || problem.Other != Namespace+"s/1" {
		t.Errorf("beside a packed one: %v", err)
	}
	link := filepath.Join(work.dir, "refs")
	for _, to := range []string{filepath.Join(other.dir, "refs"), filepath.Join(r.dir, "refs", "heads"), t.TempDir(), "missing"} {
		if err := errors.Join(os.Remove(link), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
		before := r.refs() + other.refs()
		work.checkRefused("s/2", link)
		if after := r.refs() + other.refs(); after != before {
			t.Errorf("through a link to %s are written\n%s\nnot\n%s", to, after, before)
		}
	}
}

package diff_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// TestForeignOwner: a repository of another owner, which git refuses (safe.directory), is
// read, because that runs none of its commands. What needs git fails with git's message.
func TestForeignOwner(t *testing.T) {
	t.Parallel()
	for name, workTree := range map[string]string{"a repository": "work", "with another work tree": "far"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write("f", "one\n")
			s.write("g", "one\n")
			s.commit("first")
			ran := filepath.Join(s.base, "ran")
			s.git("config", "filter.evil.clean", "touch "+ran)
			s.git("config", "core.fsmonitor", "touch "+ran)
			far := filepath.Join(s.base, "far")
			s.must(os.Mkdir(far, 0o755))
			for _, name := range []string{"f", "g"} {
				s.must(os.Rename(s.path(name), filepath.Join(s.base, workTree, name)))
			}
			s.git("config", "core.worktree", filepath.Join(s.base, workTree))
			s.env = append(s.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
			if _, err := s.run(t.Context(), s.root, nil, nil, "status"); err == nil || !strings.Contains(err.Error(), "dubious ownership") {
				t.Skipf("git looks at it: %v", err)
			}
			tree := s.begin()
			s.root = tree.Root()
			s.append("f", "two\n")
			c, err := tree.Capture(t.Context())
			s.must(err)
			if got := summary(c); got != "M f\n" || !strings.Contains(c.Patch(), "\n one\n+two\n") {
				t.Errorf("captured %s", c.Patch())
			}
			s.write(".gitattributes", "g filter=evil\n")
			s.append("g", "two\n")
			if got := summary(s.capture(tree)); got != "A .gitattributes\nM f\nM g\n" {
				t.Errorf("captured %q", got)
			}
			if _, err := os.Lstat(ran); err == nil {
				t.Error("a command of the repository was run")
			}
		})
	}
}

// TestReplacedObjects: replacements of objects (git-replace) are ignored, because the
// work tree did not contain them.
func TestReplacedObjects(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "one\ntwo\n")
	s.write("f.up", "ONE\n")
	s.git("config", "filter.up.clean", "tr a-z A-Z")
	s.write(".git/info/attributes", "*.up filter=up\n")
	s.commit("first")
	s.write("other", "another\n")
	blob, other := s.git("rev-parse", "HEAD:f"), s.git("hash-object", "-w", "other")
	s.git("replace", blob, other)
	s.git("replace", s.git("rev-parse", "HEAD:f.up"), other)
	s.git("replace", "HEAD", s.git("commit-tree", "-m", "no parent", s.git("mktree", "--missing")))
	s.must(os.MkdirAll(s.path(".git/info"), 0o755))
	s.must(os.WriteFile(s.path(".git/info/grafts"), []byte(s.git("rev-parse", "HEAD")+"\n"), 0o644))
	tree := s.begin() // its git is not told to ignore replacements
	git := newOracle(&sandbox{t: t, base: s.base, root: s.root, env: append(slices.Clip(s.env), "GIT_NO_REPLACE_OBJECTS=1")})
	s.append("f", "three\n")
	s.append("f.up", "two\n")
	git.capture(tree)
	s.remove("f")
	s.remove("f.up")
	git.capture(tree)
	s.restore(tree, loop.Change{State: tree.BaseState()})
	if got := git.now(); got != git.start {
		t.Errorf("put back:\n%s", git.patch(got))
	}
}

// TestCRLFTraps: git does not convert the line ends of a file that has CRLF in the index,
// even if it has a filter.
func TestCRLFTraps(t *testing.T) {
	t.Parallel()
	crlf := func(attributes string, config ...string) func(*sandbox) {
		return func(s *sandbox) {
			s.write("f", "one\r\ntwo\r\n")
			s.write("lf", "one\ntwo\n")
			s.commit("first")
			for i := 0; i < len(config); i += 2 {
				s.git("config", config[i], config[i+1])
			}
			s.write(".gitattributes", attributes+"\n")
			s.stale("f")
			s.stale("lf")
		}
	}
	upper := []string{"filter.up.clean", "tr a-z A-Z"}
	steps := []func(*sandbox){
		appends("f", "three\r\n"), appends("lf", "three\r\n"), writes("new", "one\r\n"),
		runs("add", "-A"), appends("f", "four\r\n"), appends("new", "two\r\n"),
	}
	runTraps(t, []trap{
		{name: "text auto", setup: crlf("* text=auto"), steps: steps},
		{name: "filter and text auto", setup: crlf("* filter=up text=auto", upper...), steps: steps},
		{name: "filter and autocrlf", setup: crlf("* filter=up", append(upper, "core.autocrlf", "true")...), steps: steps},
		{name: "ident and text auto", setup: crlf("* ident text=auto"), steps: steps},
		{name: "filter and text", setup: crlf("* filter=up text", upper...), steps: steps},
	})
}

// TestTextWithCRLF: a file with CRLF in its blob that was declared to be text later
// counts as unchanged if only its time has changed. Git counts it as changed as soon as
// its stat proves nothing; then a resumed session, which has no stats, would find every
// such file changed.
func TestTextWithCRLF(t *testing.T) {
	t.Parallel()
	for name, attributes := range map[string]string{"text": "* text", "eol": "* eol=crlf", "auto": "* text=auto"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			for _, name := range []string{"same", "touched", "gone", "turned", "d/changed"} {
				s.write(name, "one\r\ntwo\r\n")
				s.stale(name)
			}
			s.git("add", ".")
			s.write(".gitattributes", attributes+"\n")
			settle()
			s.commit("first")
			if dirty := s.git("status", "--porcelain"); dirty != "" {
				t.Fatalf("git trusts no stat: %s", dirty)
			}
			tree := s.begin()
			start, err := tree.Checkpoint(t.Context(), tree.BaseState(), "test/0", "")
			s.must(err)
			c, err := tree.Capture(t.Context())
			s.must(err)

			s.must(os.Chtimes(s.path("touched"), time.Time{}, time.Now()))
			if dirty := s.git("status", "--porcelain"); (dirty == " M touched") == (name == "auto") {
				t.Errorf("git finds %q after a touch", dirty)
			}
			s.remove("gone")
			s.write("turned", "one\ntwo\n")
			s.append("d/changed", "three\r\n")
			resumed := s.open()
			s.must(resumed.Resume(t.Context(), start))
			for _, tree := range []*diff.Tree{tree, resumed} {
				c, err := tree.Capture(t.Context())
				s.must(err)
				if got := summary(c); got != "M d/changed\nD gone\nM turned\n" || !strings.Contains(c.Patch(), "\n+three") {
					t.Errorf("captured %s", c.Patch())
				}
			}
			s.restore(tree, c)
			for _, tree := range []*diff.Tree{tree, resumed} {
				c, err := tree.Capture(t.Context())
				s.must(err)
				if got := summary(c); got != "" {
					t.Errorf("after the restore, captured %s", got)
				}
			}
		})
	}
}

// TestFilterOfItsOwnOutput: a file with the bytes of its blob counts as changed if the
// filter turns them into something else.
func TestFilterOfItsOwnOutput(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.rev.clean", "rev")
	s.write(".gitattributes", "f filter=rev text\n")
	s.write("f", "abc\n")
	s.commit("first")
	tree, o := s.begin(), newOracle(s)
	s.write("f", "cba\n")
	if got := summary(o.capture(tree)); got != "M f\n" {
		t.Errorf("captured %s", got)
	}
}

// TestFilterAtTheRoot: git gets the right names of converted files at the root, even
// after subdirectories were read.
func TestFilterAtTheRoot(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.up.clean", "tr a-z A-Z")
	s.write(".gitattributes", "*.up filter=up\n")
	for _, name := range []string{"a.up", "b.up", "dir/some-long-name", "dir/zzz/another-long-name"} {
		s.write(name, name+"\n")
	}
	s.commit("first")
	s.stale("a.up") // so that git's answer is not what the filter made of it
	s.stale("b.up")
	tree, o := s.begin(), newOracle(s)
	s.write("a.up", "changed\n")
	s.write("b.up", "also changed\n")
	s.write("dir/more", "more\n")
	if got := summary(o.capture(tree)); got != "M a.up\nM b.up\nA dir/more\n" {
		t.Errorf("captured %s", got)
	}
}

// lie gives files index entries with their current stats, but with content that a filter
// command prints.
func (s *sandbox) lie(clean string, names ...string) {
	s.t.Helper()
	settle()
	s.git("config", "filter.lie.clean", clean)
	s.write(".git/info/attributes", strings.Join(names, " filter=lie\n")+" filter=lie\n")
	s.git("add", "-A")
	s.remove(".git/info/attributes")
	s.git("config", "--remove-section", "filter.lie")
}

// TestIndexThatLies: an index entry whose stat matches but whose content does not, as
// after a filter that was set for a single "git add", is not trusted once a session has
// begun, neither for known nor for new files, nor in another process.
func TestIndexThatLies(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "harmless\n")
	s.write("d/b", "b\n")
	s.commit("first")
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	for _, name := range []string{"a", "new/c"} {
		s.write(name, "harmful\n")
		s.stale(name)
	}
	s.lie("echo harmless", "a", "c")
	if got := s.git("status", "--porcelain"); got != "A  new/c" {
		t.Skipf("git sees %q", got)
	}
	again := s.open()
	s.must(again.Resume(t.Context(), base))
	for who, tree := range map[string]*diff.Tree{"the same process": tree, "another": again} {
		c, err := tree.Capture(t.Context())
		s.must(err)
		if got := summary(c); got != "M a\nA new/c\n" || strings.Count(c.Patch(), "+harmful") != 2 {
			t.Errorf("%s: captured %s%s", who, got, c.Patch())
		}
	}
}

// TestBaselineOfAnIndexThatLies: a resumed session takes its baseline from a checkpoint,
// and does not trust the stats in the index for it, even if attributes or settings
// change.
func TestBaselineOfAnIndexThatLies(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.write("d/b", "harmless\n")
	s.commit("first")
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	s.write("d/b", "harmful\n")
	s.stale("d/b")
	s.lie("echo harmless", "b")
	if got := s.git("status", "--porcelain"); got != "" {
		t.Skipf("git sees %q", got)
	}
	tree = s.open()
	s.must(tree.Resume(t.Context(), base))
	for _, step := range []struct {
		do   func(*sandbox)
		want string
	}{
		{func(*sandbox) {}, "M d/b\n"},
		{writes(".gitattributes", "*.txt text\n"), "A .gitattributes\nM d/b\n"},
		{runs("config", "core.autocrlf", "input"), "A .gitattributes\nM d/b\n"},
	} {
		step.do(s)
		c, err := tree.Capture(t.Context())
		s.must(err)
		if got := summary(c); got != step.want {
			t.Errorf("captured %q, want %q", got, step.want)
		}
	}
}

// TestForgedObjects: the content of a forged object is never shown, neither as the old
// nor as the new content of a file.
func TestForgedObjects(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "harmless\n")
	s.commit("first")
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	s.write("a", "harmful\n")
	s.commit("second")
	forged := filepath.Join(s.own, "objects", base[:2], base[2:])
	s.must(os.Rename(forged, forged+"-real"))
	s.must(os.Link(s.object(s.git("rev-parse", "HEAD")), forged))
	if err := s.open().Resume(t.Context(), base); !errors.Is(err, diff.ErrForged) {
		t.Errorf("it resumed despite the forged object: %v", err)
	}
	s.must(os.Rename(forged+"-real", forged))
	again := s.open()
	s.must(again.Resume(t.Context(), base))
	c, err := again.Capture(t.Context())
	s.must(err)
	if !strings.Contains(c.Patch(), "\n-harmless\n+harmful\n") {
		t.Errorf("captured %s", c.Patch())
	}
}

// object returns the path of a loose object.
func (s *sandbox) object(id string) string { return s.path(".git/objects/" + id[:2] + "/" + id[2:]) }

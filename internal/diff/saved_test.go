package diff_test

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/diff"
)

// process opens the work tree as a process of its own would, with the state
// that the one before has saved.
func (s *sandbox) process() *diff.Tree {
	s.t.Helper()
	o := s.options()
	o.Saved, o.SavedDir = diff.On, s.savedDir()
	tree, err := diff.Open(s.t.Context(), s.root, o)
	s.must(err)
	s.trees = append(s.trees, tree)
	return tree
}

// resumed goes on from a checkpoint in a process of its own.
func (s *sandbox) resumed(commit string) *diff.Tree {
	s.t.Helper()
	tree := s.process()
	s.must(tree.Resume(s.t.Context(), commit))
	return tree
}

// settle waits until the times of the files tell of any later change.
func settle() { time.Sleep(50 * time.Millisecond) }

// TestRandomProcesses is TestRandomHistories with a new process for each
// capture.
func TestRandomProcesses(t *testing.T) {
	t.Parallel()
	for seed := range randomCount(60) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, uint64(seed)+1<<20)
			tree, o := h.process(), newOracle(h.sandbox)
			h.must(tree.Baseline(t.Context()))
			commit, err := tree.Checkpoint(t.Context(), tree.BaseState(), "test/0", "")
			h.must(err)
			h.must(tree.Close())
			for range 6 {
				if h.rand.IntN(3) > 0 {
					settle()
				}
				h.steps(h.rand.IntN(5))
				if h.rand.IntN(3) > 0 {
					settle()
				}
				tree := h.resumed(commit)
				o.capture(tree)
				if h.rand.IntN(2) == 0 {
					h.steps(h.rand.IntN(3))
					o.capture(tree)
				}
				h.must(tree.Close())
			}
		})
	}
}

// savedRepo is a repository with a saved state, and the commit of its baseline.
func savedRepo(t *testing.T) (s *sandbox, commit string) {
	t.Helper()
	s = newRepo(t)
	s.write("a", "a\n")
	s.write("d/b", "b\n")
	s.write("d/e/c", "c\n")
	s.write(".gitignore", "*.log\n")
	s.commit("first")
	s.write("d/new", "new\n")
	s.write("d/x.log", "ignored\n")
	settle()
	tree := s.process()
	s.must(tree.Baseline(t.Context()))
	commit, err := tree.Checkpoint(t.Context(), tree.BaseState(), "test/0", "")
	s.must(err)
	s.must(tree.Close())
	return s, commit
}

func (s *sandbox) savedDir() string { return filepath.Join(s.base, "saved") }

// saved returns the path of what has been saved of the work tree.
func (s *sandbox) saved() string {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.savedDir(), "*"))
	if err != nil || len(names) != 1 {
		s.t.Fatalf("saved: %v, %v", names, err)
	}
	return names[0]
}

// TestSavedIsUsed: a process goes on from a saved state, and sees what has
// changed since; so does the one after it.
func TestSavedIsUsed(t *testing.T) {
	t.Parallel()
	s, commit := savedRepo(t)
	o := newOracle(s)
	for _, step := range []struct {
		write map[string]string
		want  string
	}{
		{nil, ""},
		{map[string]string{"a": "A\n", "d/new": "NEW\n", "d/y.log": "ignored\n"}, "M a\nM d/new\n"},
		{map[string]string{"d/e/c": "C\n"}, "M a\nM d/e/c\nM d/new\n"},
	} {
		for name, content := range step.write {
			s.write(name, content)
		}
		tree := s.resumed(commit)
		if got := summary(o.capture(tree)); got != step.want || !tree.Recalled() {
			t.Errorf("changed: %swant %s", got, step.want)
		}
		s.must(tree.Close())
	}
}

// TestSavedOnce: a process that finds nothing new leaves the saved state alone,
// though it has read again what differs from the index.
func TestSavedOnce(t *testing.T) {
	t.Parallel()
	s, commit := savedRepo(t)
	for _, step := range []struct {
		write map[string]string
		again bool
	}{
		{nil, false},
		{map[string]string{"a": "A\n"}, true},
		{nil, false},
		{map[string]string{"d/e/another": "x\n"}, true},
		{nil, false},
		{map[string]string{"d/new": "NEW\n"}, true},
		{nil, false},
	} {
		for name, content := range step.write {
			s.write(name, content)
		}
		settle()
		before, err := os.Stat(s.saved())
		s.must(err)
		tree := s.resumed(commit)
		_, err = tree.Capture(t.Context())
		s.must(err)
		s.must(tree.Close())
		after, err := os.Stat(s.saved())
		s.must(err)
		if again := !os.SameFile(before, after); again != step.again {
			t.Errorf("after %v: saved again: %v", step.write, again)
		}
	}
}

// TestSavedRules: rules that have changed between two processes are noticed.
func TestSavedRules(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *sandbox){
		"gitignore": func(s *sandbox) { s.write(".gitignore", "b.log\n") },
		"exclude":   func(s *sandbox) { s.write(".git/info/exclude", "new\n!x.log\n") },
		"config":    func(s *sandbox) { s.git("config", "core.excludesFile", s.path("d/e/c")); s.write("d/e/c", "new\n") },
		"new file":  func(s *sandbox) { s.write("d/.gitignore", "!x.log\n") },
		"fileMode":  func(s *sandbox) { s.git("config", "core.fileMode", "false"); s.chmod("a", 0o755) },
		"autocrlf":  func(s *sandbox) { s.git("config", "core.autocrlf", "true"); s.write("d/new", "new\r\n") },
		"attributes": func(s *sandbox) {
			s.write(".git/info/attributes", "* text=auto\n")
			s.write("d/new", "new\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, commit := savedRepo(t)
			o := newOracle(s)
			change(s)
			o.capture(s.resumed(commit))
		})
	}
}

// TestSavedDamaged: a saved state that is not whole is none.
func TestSavedDamaged(t *testing.T) {
	t.Parallel()
	s, commit := savedRepo(t)
	whole, err := os.ReadFile(s.saved())
	s.must(err)
	o := newOracle(s)
	s.write("a", "A\n")
	first := s.resumed(commit)
	want := o.capture(first).Patch()
	if !first.Recalled() {
		t.Error("the saved state is not used")
	}
	check := func(what string, at int, damaged []byte) {
		t.Helper()
		s.must(os.WriteFile(s.saved(), damaged, 0o600))
		tree := s.resumed(commit)
		c, err := tree.Capture(t.Context())
		if err != nil || c.Patch() != want || tree.Recalled() != (what == "whole") {
			t.Fatalf("%s at %d: %v\n%s", what, at, err, c.Patch())
		}
		s.closeTrees() // there would be thousands
	}
	for at := 0; at < len(whole); at += every {
		check("cut", at, whole[:at])
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 0x55
		check("damaged", at, damaged)
	}
	check("more", len(whole), append(slices.Clip(whole), 0))
	check("whole", 0, whole)
}

// TestSavedIndex: the index is read when it is not the one that the state was
// saved with, and taken as it was when it is.
func TestSavedIndex(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(s *sandbox)
		same   bool
	}{
		"as it was": {change: func(s *sandbox) { s.write("a", "A\n"); s.write("d/more", "more\n") }, same: true},
		"looked at": {change: func(s *sandbox) { s.git("--no-optional-locks", "status") }, same: true},
		"tracked":   {change: func(s *sandbox) { s.git("add", "-f", "d/x.log") }},
		"untracked": {change: func(s *sandbox) { s.git("rm", "-q", "--cached", "d/b"); s.write("d/b", "B\n") }},
		"intended":  {change: func(s *sandbox) { s.git("add", "-N", "d/new"); s.write("d/new", "NEW\n") }},
		"skipped":   {change: func(s *sandbox) { s.git("update-index", "--skip-worktree", "a"); s.remove("a") }},
		"split":     {change: func(s *sandbox) { s.git("update-index", "--split-index"); s.git("add", "d/new") }},
		"gone":      {change: func(s *sandbox) { s.remove(".git/index") }},
		"in conflict": {change: func(s *sandbox) {
			id := s.git("rev-parse", "HEAD:a")
			stages := "0 " + strings.Repeat("0", 40) + "\ta\n100644 " + id + " 1\ta\n100644 " + id + " 3\ta\n"
			_, err := s.run(s.t.Context(), s.root, nil, []byte(stages), "update-index", "--index-info")
			s.must(err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, commit := savedRepo(t)
			o := newOracle(s)
			c.change(s)
			settle()
			for range 2 { // the second process has what the first one saved
				tree := s.resumed(commit)
				if tree.Recalling() != c.same {
					t.Errorf("the saved index is used: %v", !c.same)
				}
				o.capture(tree)
				s.must(tree.Close())
				c.same = name != "gone"
			}
		})
	}
}

// TestSavedForeign: what another work tree has saved is not used.
func TestSavedForeign(t *testing.T) {
	t.Parallel()
	s, _ := savedRepo(t)
	other, commit := savedRepo(t)
	content, err := os.ReadFile(s.saved())
	s.must(err)
	s.must(os.WriteFile(other.saved(), content, 0o600))
	o := newOracle(other)
	other.write("d/b", "B\n")
	o.capture(other.resumed(commit))
}

// TestSavedNowhere: that the state cannot be saved is no error.
func TestSavedNowhere(t *testing.T) {
	t.Parallel()
	s, commit := savedRepo(t)
	s.must(os.RemoveAll(s.savedDir()))
	s.must(os.WriteFile(s.savedDir(), nil, 0o600))
	s.write("a", "A\n")
	tree := s.resumed(commit)
	_, err := tree.Capture(t.Context())
	s.must(err)
	s.must(tree.Close())
}

// TestSavedWithin: a directory in the work tree is none to save in, or to believe.
func TestSavedWithin(t *testing.T) {
	t.Parallel()
	s, commit := savedRepo(t)
	link := filepath.Join(s.base, "link")
	s.must(os.Rename(s.savedDir(), s.path("d/saved")))
	s.must(os.Symlink(s.path("d"), link))
	for _, dir := range []string{s.path("d/saved"), s.root, filepath.Join(link, "saved")} {
		o := s.options()
		o.Saved, o.SavedDir = diff.On, dir
		tree, err := diff.Open(t.Context(), s.root, o)
		s.must(err)
		s.must(tree.Resume(t.Context(), commit))
		if tree.Recalling() {
			t.Errorf("what is in %s is used", dir)
		}
		_, err = tree.Capture(t.Context())
		s.must(err)
		s.must(tree.Close())
	}
}

// TestSavedLongAgo: what nobody has saved for long goes when something is saved.
func TestSavedLongAgo(t *testing.T) {
	t.Parallel()
	s, commit := savedRepo(t)
	old := filepath.Join(s.savedDir(), "old")
	s.must(os.WriteFile(old, nil, 0o600))
	s.must(os.Chtimes(old, time.Time{}, time.Now().AddDate(0, 0, -31)))
	s.write("a", "A\n")
	tree := s.resumed(commit)
	_, err := tree.Capture(t.Context())
	s.must(err)
	s.must(tree.Close())
	if _, err := os.Stat(s.saved()); err != nil { // and nothing else is there
		t.Error(err)
	}
}

// every is how far apart the bytes are that are damaged: all of them would take
// minutes.
const every = 5

// TestSavedForged: whatever stands in the file, the program goes on, or misses an
// object, as it does when the index names one that is not there.
func TestSavedForged(t *testing.T) {
	t.Parallel()
	s, commit := savedRepo(t)
	whole, err := os.ReadFile(s.saved())
	s.must(err)
	for at := 0; at < len(whole); at += every {
		forged := slices.Clone(whole)
		forged[at] ^= 0x81
		mend(forged)
		s.must(os.WriteFile(s.saved(), forged, 0o600))
		if _, err := s.resumed(commit).Capture(t.Context()); err != nil && !strings.Contains(err.Error(), "could not get object info") {
			t.Fatalf("forged at %d: %v", at, err)
		}
		s.closeTrees()
	}
	mend(whole)
	s.must(os.WriteFile(s.saved(), whole, 0o600))
	if tree := s.resumed(commit); !tree.Recalling() {
		t.Error("what is mended is not used")
	}
}

// mend makes the sums in a file right, as far as it can be taken apart: that of
// the header and that of what follows it.
func mend(data []byte) {
	const sum = len("codeloops scan 5\n")
	end := sum + 8 + int(binary.LittleEndian.Uint32(data[sum+4:]))
	if end+4 > len(data) {
		return
	}
	binary.LittleEndian.PutUint32(data[sum:], crc32.ChecksumIEEE(data[sum+8:end]))
	binary.LittleEndian.PutUint32(data[end:], crc32.ChecksumIEEE(data[end+4:]))
}

// TestSavedByAnother: what another session has saved may rest on an index that the
// actor of this one has made, with the stats of the files and the contents from
// before. A session that is resumed does not believe it, and saves its own.
func TestSavedByAnother(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]func(s *sandbox, tree *diff.Tree){
		"a session": func(s *sandbox, tree *diff.Tree) {
			_, err := tree.Checkpoint(s.t.Context(), tree.BaseState(), "another/0", "another")
			s.must(err)
		},
		"no session": func(*sandbox, *diff.Tree) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, commit := savedRepo(t)
			s.write("a", "harmful\n")
			s.stale("a")
			s.lie("echo a", "a")
			settle()
			tree := s.process()
			s.must(tree.Baseline(t.Context()))
			another(s, tree)
			s.must(tree.Close())
			for again := range 2 {
				tree := s.resumed(commit)
				c, err := tree.Capture(t.Context())
				s.must(err)
				if got := summary(c); got != "M a\n" || !strings.Contains(c.Patch(), "+harmful") {
					t.Errorf("captured %s%s", got, c.Patch())
				}
				if tree.Recalled() != (again > 0) {
					t.Errorf("the saved state is used: %v", again == 0)
				}
				s.must(tree.Close())
			}
		})
	}
}

// TestSavedForNew: a session that begins takes what another one has saved, and
// makes it its own, so that it can be resumed with it.
func TestSavedForNew(t *testing.T) {
	t.Parallel()
	s, first := savedRepo(t)
	tree := s.process()
	s.must(tree.Baseline(t.Context()))
	if !tree.Recalled() {
		t.Error("the saved state is not used")
	}
	second, err := tree.Checkpoint(t.Context(), tree.BaseState(), "another/0", "another")
	s.must(err) // and is killed
	for commit, want := range map[string]bool{first: false, second: true} {
		tree := s.resumed(commit)
		if _, err := tree.Capture(t.Context()); err != nil || tree.Recalled() != want {
			t.Errorf("used for %s: %v, %v", commit, !want, err)
		}
	}
}

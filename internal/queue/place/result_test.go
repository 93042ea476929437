package place_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/queue/place"
)

// TestJudged: the result is what the critic has approved, and nothing else, whatever git is made to see or hide.
func TestJudged(t *testing.T) {
	t.Parallel()
	const all = "M\tfirst\nA\tnew\nD\tsecond"
	for name, c := range map[string]struct {
		setup, before, after string // commands: the setup, before the session, and between its end and the result
		want                 string // "" is an error
	}{
		"as approved":      {want: all},
		"assumed":          {after: "git update-index --assume-unchanged first", want: all},
		"skipped":          {after: "git update-index --skip-worktree first", want: all},
		"excluded":         {after: "echo new >.git/info/exclude", want: all},
		"changed":          {after: "echo other >first", want: all},
		"added":            {after: "echo hidden >hidden", want: all},
		"filtered":         {after: "echo 'new filter=x' >.git/info/attributes; git config filter.x.clean 'tr n m'", want: all},
		"moved":            {after: "git config core.worktree /; git config core.bare true", want: all},
		"sparse":           {before: "git sparse-checkout set in", want: all},
		"from before":      {before: "echo hidden >hidden"},
		"dirty before":     {before: "echo left >first"},
		"committed before": {before: "echo hidden >hidden; git add .; git commit -qm hidden"},
		"of the setup":     {setup: "echo stray >stray; echo 1 >>lock", want: all},
		"with the setup's": {setup: "echo stray >stray; echo 1 >>first", want: all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.Write("second", "second\n")
			s.Write("lock", "lock\n")
			base := s.Save("second")
			p, err := s.site.Open(t.Context(), place.Task{Name: "t", Base: base, Setup: c.setup})
			s.must(err)
			s.sh(p.Dir, c.before)
			start := s.state(p.Dir)
			s.Put(p.Dir, "first", "changed\n")
			s.Put(p.Dir, "new", "new\n")
			_ = os.Remove(filepath.Join(p.Dir, "second"))
			end := s.state(p.Dir)
			s.sh(p.Dir, c.after)
			head, err := p.Commit(t.Context(), "m", s.judged(start, end))
			if c.want == "" {
				if s.refused(err); !errors.Is(err, place.ErrUnjudged) {
					t.Errorf("committed %s: %v", head, err)
				}
				if s.open("t").Fresh() {
					t.Error("it counts as new")
				}
				return
			}
			s.must(err)
			if got := s.Git("diff", "--name-status", "--no-renames", base, head); got != c.want {
				t.Errorf("committed %q, want %q", got, c.want)
			}
			s.Git("fsck", "--connectivity-only")
		})
	}
}

// TestJudgedAgain: a second session builds on the first one's result and on the target, and its conflicts may take
// several sessions, which make one merge.
func TestJudgedAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.Put(p.Dir, "first", "mine\n")
	first := s.commit(p)
	s.Write("first", "theirs\n")
	s.Write("other", "other\n")
	tip := s.Save("theirs")
	p = s.again(first)
	s.Put(p.Dir, "more", "more\n")
	_, err := s.finish(p)
	if !errors.Is(err, place.ErrConflicts) || !strings.Contains(err.Error(), "first:1") {
		t.Fatalf("%v, want conflicts", err)
	}
	if p = s.again(first); p.Fresh() {
		t.Error("it counts as new")
	}
	s.is(p, "more", "more\n")
	s.Put(p.Dir, "first", "both\n")
	head := s.commit(p)
	if got := s.Git("diff", "--name-status", tip, head); got != "M\tfirst\nA\tmore" {
		t.Errorf("committed %q", got)
	}
	if got := s.Git("rev-list", "--count", head, "^"+first, "^"+tip); got != "1" {
		t.Errorf("%s commits, want one merge", got)
	}
}

// TestSubmodulePointer: a submodule that a work tree has at an older commit does not take the user's newer one back.
func TestSubmodulePointer(t *testing.T) {
	t.Parallel()
	s, lib := newScene(t), newScene(t)
	s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Root, "lib")
	base := s.Save("lib")
	p, err := s.site.Open(t.Context(), place.Task{
		Name: "t", Base: base, Setup: "git -c protocol.file.allow=always submodule --quiet update --init",
	})
	s.must(err)
	s.Put(p.Dir, "new", "new\n")
	head, err := p.Commit(t.Context(), "m", s.judged(base, s.state(p.Dir)))
	s.must(err)
	lib.Write("newer", "newer\n")
	newer := lib.Save("newer")
	s.In(filepath.Join(s.Root, "lib"), "pull", "-q")
	s.Save("newer lib")
	p = s.again(head)
	start := s.state(p.Dir)
	s.Put(p.Dir, "newest", "newest\n")
	head, err = p.Commit(t.Context(), "m", s.judged(start, s.state(p.Dir)))
	s.must(err)
	if got := s.Git("rev-parse", head+":lib"); got != newer {
		t.Errorf("the submodule is at %s, want %s", got, newer)
	}
	s.Git("merge", "--quiet", "--ff-only", head)
}

// TestSubmoduleMoved: a task moves no submodule, and takes none back that somebody else has moved.
func TestSubmoduleMoved(t *testing.T) {
	t.Parallel()
	s, lib := newScene(t), newScene(t)
	s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Root, "lib")
	base := s.Save("lib")
	two := lib.Save("two")
	p, err := s.site.Open(t.Context(), place.Task{
		Name: "t", Base: base, Setup: "git -c protocol.file.allow=always submodule --quiet update --init",
	})
	s.must(err)
	its := filepath.Join(p.Dir, "lib")
	s.In(its, "fetch", "-q")
	s.In(its, "checkout", "-q", two)
	_, err = s.finish(p)
	s.refused(err, "in a submodule: lib")
}

// TestInside: contents of repositories inside that exist only there are named, and not merged.
func TestInside(t *testing.T) {
	t.Parallel()
	s, lib := newScene(t), newScene(t)
	s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Root, "lib")
	s.Save("lib")
	p := s.open("t")
	approve := func(file string) (string, error) { // a checkpoint has the files of a repository inside
		dir := t.TempDir()
		start := s.state(dir)
		s.Put(dir, file, "x\n")
		return p.Commit(t.Context(), "m", s.judged(start, s.state(dir)))
	}
	s.In(p.Dir, "worktree", "add", "--quiet", "-b", "side", "inner")
	_, err := approve("inner/first")
	s.refused(err, "in a submodule: inner/first")
	s.In(p.Dir, "init", "-q", "own")
	s.In(filepath.Join(p.Dir, "own"), "commit", "-q", "--allow-empty", "-m", "own")
	_, err = approve("own/first")
	s.refused(err, "in a submodule: own/first")
	s.In(p.Dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	its := filepath.Join(p.Dir, "lib")
	s.Put(its, "new", "new\n")
	_, err = approve("lib/new")
	s.refused(err, "in a submodule: lib/new")
	s.must(os.RemoveAll(its))
	_, err = approve("lib/new")
	s.refused(err, "in a submodule: lib")
	s.removed(p)
}

package place_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"codeloops/internal/queue/git"
	"codeloops/internal/queue/place"
)

// state returns a commit of a work tree as it is, whatever its index says.
func (s scene) state(dir string) string {
	s.Helper()
	index := filepath.Join(s.State, "index")
	s.must(os.RemoveAll(index))
	var out string
	for _, args := range [][]string{{"read-tree", "HEAD"}, {"add", "--all", "--sparse"}, {"write-tree"}} {
		var err error
		out, err = s.Do(s.Context(), git.Call{Dir: dir, Env: []string{"GIT_INDEX_FILE=" + index, "GIT_WORK_TREE=" + dir}}, args...)
		s.must(err)
	}
	return s.In(dir, "commit-tree", "-m", "state", out)
}

func (s scene) judged(start, end string) *place.Judged {
	return &place.Judged{Start: start, End: end, Repositories: []string{s.CommonDir}}
}

// TestJudged: only what the critic has approved is committed.
func TestJudged(t *testing.T) {
	t.Parallel()
	const all = "M\tfirst\nA\tnew\nD\tsecond"
	for name, c := range map[string]struct {
		before, after func(s scene, dir string) // the session, and between its end and the commit
		want          string                    // "" is an error
	}{
		"as approved": {want: all},
		"assumed":     {after: func(s scene, dir string) { s.In(dir, "update-index", "--assume-unchanged", "first") }},
		"skipped":     {after: func(s scene, dir string) { s.In(dir, "update-index", "--skip-worktree", "first") }},
		"excluded":    {after: func(s scene, _ string) { s.Put(s.CommonDir, "info/exclude", "new\n") }},
		"changed":     {after: func(s scene, dir string) { s.Put(dir, "first", "other\n") }},
		"added":       {after: func(s scene, dir string) { s.Put(dir, "hidden", "hidden\n") }},
		"filtered": {after: func(s scene, dir string) {
			s.Put(s.CommonDir, "info/attributes", "new filter=x\n")
			s.In(dir, "config", "filter.x.clean", "tr n m")
		}},
		"from before":  {before: func(s scene, dir string) { s.Put(dir, "hidden", "hidden\n") }},
		"dirty before": {before: func(s scene, dir string) { s.Put(dir, "first", "left\n") }},
		"committed before": {before: func(s scene, dir string) {
			s.Put(dir, "hidden", "hidden\n")
			s.In(dir, "add", "hidden")
			s.In(dir, "commit", "-qm", "hidden")
		}},
		"committed": {after: func(s scene, dir string) {
			s.In(dir, "add", "--all")
			s.In(dir, "commit", "-qm", "all")
		}, want: all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.Write("second", "second\n")
			base := s.Save("second")
			p := s.open("t")
			if c.before != nil {
				c.before(s, p.Dir)
			}
			start := s.state(p.Dir)
			s.Put(p.Dir, "first", "changed\n")
			s.Put(p.Dir, "new", "new\n")
			s.must(os.Remove(filepath.Join(p.Dir, "second")))
			end := s.state(p.Dir)
			if c.after != nil {
				c.after(s, p.Dir)
			}
			head, err := p.Commit(t.Context(), "m", s.judged(start, end))
			if c.want == "" {
				if s.refused(err); !errors.Is(err, place.ErrUnjudged) {
					t.Errorf("committed %s: %v", head, err)
				}
				return
			}
			s.must(err)
			if got := s.Git("diff", "--name-status", "--no-renames", base, head); got != c.want {
				t.Errorf("committed %q, want %q", got, c.want)
			}
		})
	}
}

// TestSparse: what a sparse checkout leaves out stays as it is, and may be brought in.
func TestSparse(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, name := range []string{"in/1", "out/1", "more/1", "more/2"} {
		s.Write(name, "1\n")
	}
	base := s.Save("base")
	p := s.open("t")
	s.In(p.Dir, "sparse-checkout", "set", "in")
	start := s.state(p.Dir)
	s.In(p.Dir, "sparse-checkout", "add", "more")
	s.Put(p.Dir, "in/1", "2\n")
	s.Put(p.Dir, "more/1", "2\n")
	s.Put(p.Dir, "out/new", "2\n")
	head, err := p.Commit(t.Context(), "m", s.judged(start, s.state(p.Dir)))
	s.must(err)
	if got := s.Git("diff", "--name-status", base, head); got != "M\tin/1\nM\tmore/1\nA\tout/new" {
		t.Errorf("committed %q", got)
	}
	start = s.state(p.Dir)
	s.In(p.Dir, "sparse-checkout", "set", "out")
	if head, err := p.Commit(t.Context(), "m", s.judged(start, s.state(p.Dir))); !errors.Is(err, place.ErrUnjudged) {
		t.Errorf("committed %s: %v", head, err)
	}
}

// TestInnerWorkTree: a work tree that an agent has left in a task's is named as what it is, and not merged.
func TestInnerWorkTree(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.In(p.Dir, "worktree", "add", "--quiet", "-b", "side", "inner")
	_, err := p.Commit(t.Context(), "m", nil)
	s.refused(err, "another work tree")
	s.must(os.RemoveAll(filepath.Join(p.Dir, "inner")))
	_, err = p.Commit(t.Context(), "m", nil)
	s.must(err)
}

// TestJudgedAgain: a second session builds on the first one's result and on the update, and its conflicts may take
// several sessions.
func TestJudgedAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	base := s.Git("rev-parse", "main")
	p := s.open("t")
	start := s.state(p.Dir)
	s.Put(p.Dir, "first", "mine\n")
	first, err := p.Commit(t.Context(), "m", s.judged(start, s.state(p.Dir)))
	s.must(err)
	s.Write("first", "theirs\n")
	s.Write("other", "other\n")
	tip := s.Save("theirs")
	p, err = s.site.Open(t.Context(), place.Task{Name: "t", Base: base, Head: first})
	s.must(err)
	_, err = p.Update(t.Context(), tip)
	s.must(err)
	start = s.state(p.Dir)
	s.Put(p.Dir, "more", "more\n")
	_, err = p.Commit(t.Context(), "m", s.judged(start, s.state(p.Dir)))
	if !errors.Is(err, place.ErrConflicts) {
		t.Fatalf("%v, want conflicts", err)
	}
	start = s.state(p.Dir)
	s.Put(p.Dir, "first", "both\n")
	head, err := p.Commit(t.Context(), "m", s.judged(start, s.state(p.Dir)))
	s.must(err)
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
	lib.Write("newer", "newer\n")
	newer := lib.Save("newer")
	s.In(filepath.Join(s.Root, "lib"), "pull", "-q")
	tip := s.Save("newer lib")
	_, err = p.Update(t.Context(), tip)
	s.must(err)
	start := s.state(p.Dir)
	s.Put(p.Dir, "new", "new\n")
	head, err := p.Commit(t.Context(), "m", s.judged(start, s.state(p.Dir)))
	s.must(err)
	if got := s.Git("rev-parse", head+":lib"); got != newer {
		t.Errorf("the submodule is at %s, want %s", got, newer)
	}
	s.Git("merge", "--quiet", "--ff-only", head)
	s.removed(p)
}

// TestSubmoduleConflict: where the task and the user have moved a submodule, neither's commit is taken unasked.
func TestSubmoduleConflict(t *testing.T) {
	t.Parallel()
	s, lib := newScene(t), newScene(t)
	s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Root, "lib")
	base := s.Save("lib")
	one := lib.Git("commit-tree", "-p", "HEAD", "-m", "one", "HEAD^{tree}")
	lib.Git("update-ref", "refs/heads/one", one)
	two := lib.Save("two")
	in := filepath.Join(s.Root, "lib")
	p, err := s.site.Open(t.Context(), place.Task{
		Name: "t", Base: base, Setup: "git -c protocol.file.allow=always submodule --quiet update --init",
	})
	s.must(err)
	its := filepath.Join(p.Dir, "lib")
	moved := func() *place.Judged { // a checkpoint has the files as well
		return s.judged(s.In(p.Dir, "rev-parse", "HEAD"), s.state(p.Dir))
	}
	s.In(its, "checkout", "-q", one)
	_, err = p.Commit(t.Context(), "m", moved())
	s.must(err)
	s.In(in, "fetch", "-q")
	s.In(in, "checkout", "-q", two)
	tip := s.Save("two")
	conflicts, err := p.Update(t.Context(), tip)
	if s.must(err); len(conflicts) != 1 {
		t.Fatalf("conflicts in %q", conflicts)
	}
	if _, err = p.Commit(t.Context(), "m", moved()); !errors.Is(err, place.ErrConflicts) {
		t.Fatalf("%v, want a conflict", err)
	}
	s.In(its, "fetch", "-q")
	s.In(its, "checkout", "-q", two)
	head, err := p.Commit(t.Context(), "m", moved())
	s.must(err)
	if got := s.Git("rev-parse", head+":lib"); got != two {
		t.Errorf("the submodule is at %s, want %s", got, two)
	}
}

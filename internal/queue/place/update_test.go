package place_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/queue/place"
)

// TestUpdate: further work begins at the last result, merged with the target as far as that has something new. What is in
// no result stays only where git tracks nothing.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Write("gone", "gone\n")
	s.Write("old", "old\n")
	s.Save("more")
	p := s.open("t")
	s.Put(p.Dir, "new", "new\n")
	s.must(os.Remove(filepath.Join(p.Dir, "gone")))
	head := s.commit(p)
	if s.commit(s.again(head)) != head {
		t.Error("a commit was made although there was nothing to merge")
	}
	s.Put(p.Dir, "first", "left\n")
	s.Put(p.Dir, "stray", "stray\n")
	s.Write("other", "other\n")
	s.must(os.Remove(filepath.Join(s.Root, "old")))
	tip := s.Save("other")
	p = s.again(head)
	for path, want := range map[string]string{"other": "other\n", "new": "new\n", "first": "first\n", "gone": "-", "old": "-", "stray": "stray\n"} {
		s.is(p, path, want)
	}
	if got := s.In(p.Dir, "status", "--porcelain"); got != "?? stray" {
		t.Errorf("git sees %q", got)
	}
	s.must(os.Remove(filepath.Join(p.Dir, "stray")))
	last := s.commit(p)
	if parents := s.Git("log", "-1", "--format=%P", last); parents != head+" "+tip {
		t.Errorf("the parents are %s", parents)
	}
	if s.commit(s.again(last)) != last {
		t.Error("main was merged once more")
	}
}

// conflict makes a conflict between the place of a task and main.
func conflict(t *testing.T) (s scene, head, tip string) {
	t.Helper()
	s = newScene(t)
	s.Write("both", "a\nb\nc\n")
	s.Write("title", "Title\n=======\n")
	s.Save("both")
	p := s.open("t")
	s.Put(p.Dir, "both", "a\nmine\nc\n")
	s.Put(p.Dir, "title", "My\n=======\n")
	head = s.commit(p)
	s.Write("both", "a\ntheirs\nc\n")
	s.Write("title", "Their\n=======\n")
	tip = s.Save("theirs")
	return s, head, tip
}

// TestConflict: conflicts are in the files, also after a kill, and markers are refused even if an agent has committed
// them. No merge driver runs.
func TestConflict(t *testing.T) {
	t.Parallel()
	s, head, tip := conflict(t)
	s.Git("config", "merge.union.driver", "true")
	s.Put(s.CommonDir, "info/attributes", "both merge=union\n")
	s.Git("config", "merge.conflictStyle", "diff3")
	p := s.again(head)
	if text := s.Text(p.Dir, "both"); !strings.Contains(text, "\nmine\n=======\ntheirs\n>>>>>>> theirs") || strings.Contains(text, "|||") {
		t.Errorf("the file is %q", text)
	}
	again := s.again(head)
	if again.Start() != p.Start() {
		t.Error("the same commits have another start")
	}
	s.In(p.Dir, "commit", "-q", "--allow-empty", "-m", "merged")
	_, err := s.finish(p)
	if s.refused(err, "both:2, both:4, both:6, title:1, title:5"); strings.Count(err.Error(), "both:2") != 1 {
		t.Errorf("a line is named twice: %v", err)
	}
	p = s.again(head)
	s.Put(p.Dir, "both", "a\n>>>>>>> more\nc\n")
	s.Put(p.Dir, "title", "Our\n=======\n")
	_, err = s.finish(p)
	s.refused(err, "both:2")
	p = s.again(head)
	s.Put(p.Dir, "both", "a\nmine and theirs\nc\n")
	last := s.commit(p)
	if parents := s.Git("log", "-1", "--format=%P", last); parents != head+" "+tip {
		t.Errorf("the parents are %s", parents)
	}
}

// TestConflictMeanwhile: while conflicts are resolved, the target may move on: what it has taken back is not left behind. What
// the work began at before may be gone then: no ref keeps it once there is the new start.
func TestConflictMeanwhile(t *testing.T) {
	t.Parallel()
	s, head, _ := conflict(t)
	s.Write("passing", "passing\n")
	s.Save("passing")
	p := s.again(head)
	s.Put(p.Dir, "both", "a\nmine and theirs\nc\n")
	_, err := s.finish(p)
	s.refused(err, "title:1")
	s.must(os.Remove(filepath.Join(s.Root, "passing")))
	tip := s.Save("passed")
	was := p.Start()
	s.Git("update-ref", "-d", place.Held("t"))
	s.Git("gc", "--quiet", "--prune=now")
	s.Fails("cat-file", "-e", was)
	p = s.again(head)
	s.is(p, "passing", "-")
	s.Put(p.Dir, "both", "a\nmine and theirs\nc\n")
	s.Put(p.Dir, "title", "Our\n=======\n")
	if got := s.Git("diff", "--name-only", tip, s.commit(p)); got != "both\ntitle" {
		t.Errorf("it changes %q", got)
	}
}

// TestAdopt: a result that was made elsewhere is what further work begins at.
func TestAdopt(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	base := s.Git("rev-parse", "main")
	p := s.open("t")
	s.Put(p.Dir, "half", "half\n")
	made := s.Branch("elsewhere", "main", "made", "made\n")
	s.must(s.site.Adopt(t.Context(), "t", made))
	p, err := s.site.Open(t.Context(), place.Task{Name: "t", Base: base, Head: made})
	s.must(err)
	s.is(p, "half", "-")
	s.is(p, "made", "made\n")
	if s.Git("rev-parse", "codeloops/t") != made {
		t.Error("the branch is elsewhere")
	}
}

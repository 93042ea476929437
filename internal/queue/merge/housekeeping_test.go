package merge_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/queue/merge"
)

// TestPruned: the user's git removes what no ref has, at every moment, and no merge and no object is lost.
func TestPruned(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]bool{"checked out": true, "free": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, out)
			const n = 6
			for i := range n {
				s.Branch("b"+strconv.Itoa(i), "main", "f"+strconv.Itoa(i), "new\n")
			}
			base := s.Git("rev-parse", "main")
			ctx, cancel := context.WithCancel(t.Context())
			var pruning sync.WaitGroup
			pruning.Go(func() {
				for ctx.Err() == nil {
					_, _ = s.Run(ctx, s.Root, "prune", "--expire=now")
				}
			})
			ref := ""
			for i := range n {
				res, err := s.mergeFrom(base, "b"+strconv.Itoa(i))
				if s.must(err); res.Outcome != merge.Merged {
					t.Fatalf("%+v", res)
				}
				ref = res.Ref
			}
			cancel()
			pruning.Wait()
			if got := s.Git("ls-tree", "--name-only", ref); strings.Count(got, "\n") != n {
				t.Errorf("it has %q", got)
			}
			s.Git("fsck", "--connectivity-only")
			if left := s.Git("for-each-ref", "refs/codeloops/merging"); left != "" {
				t.Errorf("left %s", left)
			}
		})
	}
}

// TestManyPacks: what merges leave does not pile up.
func TestManyPacks(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	for i := range 60 {
		text := strconv.Itoa(i)
		s.Write("x", text)
		s.sh(t, "git hash-object -w x | git pack-objects -q .git/objects/pack/pack && git prune-packed -q")
	}
	s.must(os.Remove(filepath.Join(s.Root, "x")))
	s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	if packs, _ := filepath.Glob(filepath.Join(s.CommonDir, "objects", "pack", "*.pack")); len(packs) > 10 {
		t.Errorf("there are %d packs", len(packs))
	}
	s.Git("fsck", "--connectivity-only")
}

// sh runs shell commands in the user's work tree.
func (s scene) sh(t *testing.T, commands string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	cmd.Dir, cmd.Env = s.Root, s.Environ
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
}

// TestGone: a ref of what waits that names nothing, as its commit was removed before the ref was there, is put back, which
// is said, and the merge is made.
func TestGone(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"after a merge": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, true)
			s.Branch("one", "main", "one", "1\n")
			s.Branch("two", "main", "two", "2\n")
			want := "first\ntwo"
			if first {
				s.merged("one")
				want = "first\none\ntwo"
			}
			gone := strings.Repeat("12345678", 5)
			was := s.Git("for-each-ref", "--format=%(objectname)", queue)
			marks, _ := filepath.Glob(filepath.Join(s.State, "*", "merges", "main", "refs-*.json"))
			if len(marks) == 0 {
				s.merged("one") // makes the directory
				s.Git("update-ref", "-d", queue)
				marks, _ = filepath.Glob(filepath.Join(s.State, "*", "merges", "main", "refs-*.json"))
			}
			s.must(os.WriteFile(marks[0], []byte(`[{"ahead":"`+gone+`"},{"ahead":"`+was+`"}]`), 0o600))
			s.Put(s.CommonDir, queue, gone+"\n")
			told := ""
			res, err := s.merger.Merge(t.Context(), merge.Request{
				Target: "main", Head: "two", Base: s.Git("rev-parse", "main"), Message: "m\n", Tell: func(sentence string) { told += sentence },
			})
			if s.must(err); res.Outcome != merge.Merged || !strings.Contains(told, "the commit 123456781234, where "+queue+" was, is gone") {
				t.Errorf("%+v, %q", res, told)
			}
			if got := s.Git("ls-tree", "--name-only", queue); got != want {
				t.Errorf("it has %q", got)
			}
		})
	}
}

// TestSquash: a squashed result is one commit on the target, and is merged once, also if that is asked for again.
func TestSquash(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]bool{"checked out": true, "free": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, out)
			base := s.Git("rev-parse", "main")
			s.Branch("one", "main", "one", "1\n")
			s.Branch("more", "one", "more", "1\n")
			s.Branch("two", "main", "two", "2\n")
			ref := ""
			for _, head := range []string{"more", "two", "more"} {
				res, err := s.merger.Merge(t.Context(), merge.Request{
					Target: "main", Head: head, Base: base, Message: "Title of " + head + "\n\nTask: " + head + "\n", Squash: true, Mark: "Merge-Of: " + head, Since: time.Now(), Check: green,
				})
				if s.must(err); res.Outcome != merge.Merged {
					t.Fatalf("%+v", res)
				}
				ref = res.Ref
			}
			if got := s.Git("log", "--format=%s", ref, "^"+base); got != "Title of two\nTitle of more" {
				t.Errorf("the commits are %q", got)
			}
			if got := s.Git("ls-tree", "--name-only", ref); got != "first\nmore\none\ntwo" {
				t.Errorf("it has %q", got)
			}
		})
	}
}

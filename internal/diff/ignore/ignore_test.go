package ignore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"codeloops/internal/file"
)

func TestParentExcludes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.tree, fileName), "out/\n!out/keep\n")
	w.write(filepath.Join(w.tree, "out", fileName), "!*\n")
	w.write(filepath.Join(w.tree, "out", "keep"), "")
	w.write(filepath.Join(w.tree, "out", "deep", "x"), "")
	if n := w.sameAsGit(false); n == 0 {
		t.Error("nothing is ignored")
	}
	out := w.rules(false).Root().Sub("out")
	if !out.Excluded() || !out.Sub("deep").Excluded() || out.Sub("deep").rules.Root().Excluded() {
		t.Error("Excluded is wrong")
	}
}

func TestSymlinkNotFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.home, "elsewhere"), "a\n")
	w.write(filepath.Join(w.tree, "a"), "")
	path := filepath.Join(w.tree, fileName)
	if err := os.Symlink("../elsewhere", path); err != nil {
		t.Fatal(err)
	}
	if n := w.sameAsGit(false); n != 0 {
		t.Errorf("%d paths are ignored", n)
	}
	r := w.rules(false)
	if r.Root().Ignored("a", false) {
		t.Error("a is ignored")
	}
	if err := r.Unread()[path]; !errors.Is(err, file.ErrNotRegular) {
		t.Errorf("unread for %v", err)
	}
}

// The user's own ignore file may be a symlink.
func TestSymlinksOutsideFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.home, "elsewhere"), "a\n")
	w.write(filepath.Join(w.tree, "a"), "")
	w.mkdir(filepath.Join(w.home, ".config", "git"))
	if err := os.Symlink("../../elsewhere", filepath.Join(w.home, ".config", "git", "ignore")); err != nil {
		t.Fatal(err)
	}
	if n := w.sameAsGit(false); n != 1 {
		t.Errorf("%d paths are ignored, want 1", n)
	}
}

// The repository's own rules take precedence over the user's.
func TestOrderOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.tree, "a"), "")
	w.write(filepath.Join(w.tree, "b"), "")
	w.write(filepath.Join(w.home, ".config", "git", "ignore"), "a\n!b\n")
	w.write(filepath.Join(w.home, "git", "info", "exclude"), "!a\nb\n")
	if n := w.sameAsGit(false); n != 1 {
		t.Errorf("%d paths are ignored, want 1", n)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.tree, fileName), "a\n"+strings.Repeat("# long\n", file.MaxText/7+1))
	r := w.rules(false)
	if r.Root().Ignored("a", false) {
		t.Error("a is ignored")
	}
	if err := r.Unread()[filepath.Join(w.tree, fileName)]; !errors.Is(err, file.ErrTooLarge) {
		t.Errorf("unread for %v", err)
	}
}

func TestFromIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.tree, "here", fileName), "a\n")
	r := New(Options{WorkTree: w.tree, FromIndex: func(path string) ([]byte, bool) {
		return []byte("b\n"), path == "here/.gitignore" || path == "away/.gitignore"
	}})
	root := r.Root()
	for _, c := range []struct {
		dir, name string
		want      bool
	}{
		{"here", "a", true},
		{"here", "b", false},
		{"away", "b", true},
		{"third", "b", false},
	} {
		if got := root.Sub(c.dir).Ignored(c.name, false); got != c.want {
			t.Errorf("%+v: ignored = %v", c, got)
		}
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.tree, fileName), "*.o\n")
	w.write(filepath.Join(w.tree, "a", fileName), "!keep.o\n")
	dir := w.rules(false).Root().Sub("a").Sub("b")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if dir.Ignored("keep.o", false) || !dir.Ignored("x.o", false) || dir.Excluded() {
				t.Error("wrong answer")
			}
		})
	}
	group.Wait()
}

func TestTrimSpaces(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"a": "a", "a  ": "a", `a\ `: `a\ `, `a\  `: `a\ `, `a\\ `: `a\\`, `a\\\ `: `a\\\ `, "a\t ": "a\t", "   ": "", `\ `: `\ `, "": "",
	} {
		if got := trimSpaces(line); got != want {
			t.Errorf("trimSpaces(%q) = %q, want %q", line, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*.o\n!/a/**/b/\n# c\n\\#d\n", "a/b")
	f.Add("\ufeff[[:digit:]]\r\n[!a]\\ \n", "1")
	f.Fuzz(func(t *testing.T, text, path string) {
		l := parse(text)
		if len(l) > strings.Count(text, "\n")+1 {
			t.Errorf("%d patterns in %q", len(l), text)
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		for _, fold := range []bool{false, true} {
			if ignored, ok := l.judge(path, name, true, fold); ignored && !ok {
				t.Error("ignored by no rule")
			}
		}
	})
}

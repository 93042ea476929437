package ignore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/diff/repo/file"
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
	out := w.rules(false).Root(true).Sub("out", true)
	if !out.Excluded() || !out.Sub("deep", false).Excluded() || out.Sub("deep", false).rules.Root(true).Excluded() {
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
	if r.Root(true).Ignored("a", false) {
		t.Error("a is ignored")
	}
	i := slices.IndexFunc(r.Sources(), func(s Source) bool { return s.Path == path })
	if i < 0 || !errors.Is(r.Sources()[i].Err, file.ErrNotRegular) {
		t.Errorf("sources %+v", r.Sources())
	}
	if r.Changed() {
		t.Error("rules have changed")
	}
}

// The user's own files are another matter.
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

// The repository's own rules count more than the user's.
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
	w.write(filepath.Join(w.tree, fileName), "a\n"+strings.Repeat("# long\n", maxFile/7+1))
	r := w.rules(false)
	if r.Root(true).Ignored("a", false) {
		t.Error("a is ignored")
	}
	if last := r.Sources()[len(r.Sources())-1]; !errors.Is(last.Err, file.ErrTooLarge) {
		t.Errorf("sources %+v", r.Sources())
	}
}

func TestFromIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.tree, "here", fileName), "a\n")
	r := New(Options{WorkTree: w.tree, FromIndex: func(path string) ([]byte, bool) {
		return []byte("b\n"), path == "here/.gitignore" || path == "away/.gitignore"
	}})
	root := r.Root(false)
	for _, c := range []struct {
		dir, name string
		mayHave   bool
		want      bool
	}{
		{"here", "a", true, true},
		{"here", "b", true, false},
		{"away", "b", false, true},
		{"away", "b", true, true},
		{"third", "b", true, false},
	} {
		if got := root.Sub(c.dir, c.mayHave).Ignored(c.name, false); got != c.want {
			t.Errorf("%+v: ignored = %v", c, got)
		}
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, now := range map[string]func() time.Time{
		"without clock": nil,
		"just written":  func() time.Time { return old },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := filepath.Join(w.tree, "d", fileName)
			exclude := filepath.Join(w.home, "git", "info", "exclude")
			w.write(path, "a\n")
			if err := os.Remove(exclude); err != nil {
				t.Fatal(err)
			}
			read := func() *Rules {
				r := New(Options{WorkTree: w.tree, InfoExclude: exclude, Now: now})
				r.Root(false).Sub("d", true).Ignored("a", false)
				if r.Changed() {
					t.Error("changed at once")
				}
				return r
			}
			r := read()
			fi, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			want := []Source{{Path: exclude}, {Path: path, Stamp: file.StampOf(fi)}}
			if got := r.Sources(); !slices.Equal(got, want) {
				t.Errorf("sources\n got %+v\nwant %+v", got, want)
			}
			w.write(path, "b\n") // possibly within one tick of the clock
			if !r.Changed() {
				t.Error("a rewrite goes unnoticed")
			}
			r = read()
			w.write(exclude, "c\n")
			if !r.Changed() {
				t.Error("a new file goes unnoticed")
			}
			r = read()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if !r.Changed() {
				t.Error("a lost file goes unnoticed")
			}
		})
	}
}

// TestChangedWithinATick: a file that is written again before the clock of its
// times goes on has the stamp that it had, and is known by its content; by that of
// another process's reading, too, and when it is read twice.
func TestChangedWithinATick(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, inside := range []bool{true, false} {
		w := newWorld(t)
		path := filepath.Join(w.home, "excludes")
		if inside {
			path = filepath.Join(w.tree, fileName)
		}
		w.write(path, "a\n")
		o := Options{WorkTree: w.tree, ExcludesFile: filepath.Join(w.home, "excludes"), Now: func() time.Time { return began }}
		read := func() *Rules {
			r := New(o)
			r.Root(true).Ignored("a", false)
			return r
		}
		r, again := read(), read()
		w.write(path, "b\n")
		r.standStill(t, path)
		again.standStill(t, path)
		if !r.Changed() {
			t.Error("a rewrite goes unnoticed")
		}
		again.read(path, !inside)
		again.standStill(t, path)
		if !again.Changed() {
			t.Error("a rewrite between two looks goes unnoticed")
		}
	}
}

// standStill makes the stamp of a file as it is that with which it was read.
func (r *Rules) standStill(t *testing.T, path string) {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := r.sources[path]
	s.Stamp = file.StampOf(fi)
	r.sources[path] = s
}

// TestChangedMeanwhile: rules that were read twice, and not the same, have changed,
// though they are now as they were read last.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.tree, fileName)
	w.write(path, "a\n")
	r := w.rules(false)
	first := r.Root(true).Ignored("a", false)
	w.write(path, "another\n")
	if second := r.Root(true).Ignored("a", false); !first || second || !r.Changed() {
		t.Errorf("a is ignored: %t, then %t; changed: %t", first, second, r.Changed())
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.tree, fileName), "*.o\n")
	w.write(filepath.Join(w.tree, "a", fileName), "!keep.o\n")
	dir := w.rules(false).Root(true).Sub("a", true).Sub("b", false)
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
		if len(l.patterns) > strings.Count(text, "\n")+1 {
			t.Errorf("%d patterns in %q", len(l.patterns), text)
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		for _, fold := range []bool{false, true} {
			if ignored, ok := l.judge(candidate{path: path, name: name, isDir: true, fold: fold}, 0); ignored && !ok {
				t.Error("ignored by no rule")
			}
		}
	})
}

package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A scene is a work tree together with the changes to make in it.
type scene struct {
	t    *testing.T
	dir  string // the parent of everything
	keep *Keep
}

// newScene makes a work tree for one change of each kind.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := at(t, t.TempDir())
	s.must(os.Mkdir(s.tree(), 0o755))
	for name, content := range map[string]string{
		"stays": "stays\n", "f": "old f\n", "d/g": "old g\n", "gone/deep/x": "x\n", "a/b": "b\n", "t": "t\n", "away/y": "y\n", "mode": "same\n",
	} {
		s.write(name, content)
	}
	s.must(os.Chmod(s.path("f"), 0o600))
	s.must(os.Chmod(s.path("d/g"), 0o755))
	s.must(os.Chmod(s.path("gone"), 0o700))
	s.must(os.Symlink("f", s.path("l")))
	s.must(os.Symlink("d", s.path("k")))
	return s
}

func at(t *testing.T, dir string) *scene {
	t.Helper()
	return &scene{t: t, dir: dir, keep: &Keep{Dir: filepath.Join(dir, "kept"), Now: time.Now}}
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) tree() string { return filepath.Join(s.dir, "tree") }

func (s *scene) path(name string) string { return filepath.Join(s.tree(), name) }

func (s *scene) write(name, content string) {
	s.t.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.must(os.WriteFile(s.path(name), []byte(content), 0o644))
	s.must(os.Chmod(s.path(name), 0o644))
}

func (s *scene) read(name string) string {
	content, _ := os.ReadFile(s.path(name))
	return string(content)
}

func text(kind Kind, perm os.FileMode, content string) State {
	return State{Kind: kind, Perm: perm, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func changes() []PathChange {
	return []PathChange{
		{"f", File, text(File, 0o640, "new f\n")},
		{"d/g", File, text(Link, 0, "../stays")},
		{"l", Link, text(File, 0o700, "was a link\n")},
		{"gone/deep/x", File, State{}},
		{"new/deep/n", Nothing, text(File, 0o444, "n\n")},
		{"a", Nothing, text(File, 0o644, "a\n")},
		{"a/b", File, State{}},
		{"t", File, State{}},
		{"t/u", Nothing, text(File, 0o644, "u\n")},
		{"away", Nothing, State{Kind: Place}},
		{"away/y", File, State{}},
		{"place", Nothing, State{Kind: Place}},
		{"mode", File, text(File, 0o400, "same\n")},
		{"k", Link, State{}},
		{"k/g", Nothing, text(File, 0o644, "no link leads here\n")},
	}
}

// after returns the files that the changes lead to.
func after() map[string]string {
	return map[string]string{
		"stays": `-rw-r--r-- "stays\n"`, "f": `-rw-r----- "new f\n"`, "d/": "", "d/g": "-> ../stays", "l": `-rwx------ "was a link\n"`,
		"new/": "", "new/deep/": "", "new/deep/n": `-r--r--r-- "n\n"`, "a": `-rw-r--r-- "a\n"`, "t/": "", "t/u": `-rw-r--r-- "u\n"`,
		"away/": "", "place/": "", "mode": `-r-------- "same\n"`, "k/": "", "k/g": `-rw-r--r-- "no link leads here\n"`,
	}
}

// state returns what is in a directory, by path.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			found[name+"/"] = ""
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			found[name] = "-> " + target
			return err
		default:
			info, err := d.Info()
			if err != nil {
				return err
			}
			content, err := os.ReadFile(path)
			found[name] = fmt.Sprintf("%v %q", info.Mode(), content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (s *scene) is(what string, want map[string]string) {
	s.t.Helper()
	got := state(s.t, s.tree())
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if w, ok := want[name]; !ok || w != got[name] {
			s.t.Errorf("%s: %s is %s, want %s", what, name, got[name], w)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			s.t.Errorf("%s: %s is missing", what, name)
		}
	}
}

func (s *scene) restore() (Done, error) {
	return s.keep.Restore(s.t.Context(), s.tree(), Plan{Title: "then", Changes: changes()})
}

func TestRestoreAndUndo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	before := state(t, s.tree())
	finished, err := s.restore()
	s.must(err)
	s.is("restored", after())
	keptFiles := map[string]string{
		"f": `-rw------- "old f\n"`, "d/": "", "d/g": `-rwxr-xr-x "old g\n"`, "l": "-> f", "gone/": "", "gone/deep/": "",
		"gone/deep/x": `-rw-r--r-- "x\n"`, "a/": "", "a/b": `-rw-r--r-- "b\n"`, "t": `-rw-r--r-- "t\n"`, "away/": "", "away/y": `-rw-r--r-- "y\n"`,
		"mode": `-rw-r--r-- "same\n"`, "k": "-> d",
	}
	if got := state(t, finished.Dir); !maps.Equal(got, keptFiles) {
		t.Errorf("kept %q", got)
	}
	if info, err := os.Stat(s.keep.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of what is kept: %v, %v", info, err)
	}
	for _, want := range []map[string]string{before, after(), before} {
		one, err := s.keep.Find(s.tree(), "")
		s.must(err)
		back, err := s.keep.Undo(one)
		s.must(err)
		_, err = s.keep.Restore(t.Context(), s.tree(), back)
		s.must(err)
		s.is("undone", want)
		if info, _ := os.Stat(s.path("gone")); info != nil && info.Mode().Perm() != 0o700 {
			t.Errorf("the directory has the permissions %v", info.Mode())
		}
	}
	all, err := s.keep.List()
	if err != nil || len(all) != 4 || all[0].Files == 0 {
		t.Errorf("kept %v, %v", all, err)
	}
	for _, one := range all {
		s.must(s.keep.Remove(one))
	}
	if left, _ := os.ReadDir(s.keep.Dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// steps returns the names of the steps of a restore.
func steps(t *testing.T) (all []string) {
	t.Helper()
	s := newScene(t)
	s.keep.step = func(step string) error { all = append(all, step); return nil }
	_, err := s.restore()
	s.must(err)
	return all
}

// TestFailsWhole: if any step fails, no file has changed.
func TestFailsWhole(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for n, step := range steps(t) {
		if step == "compare" || step == "clear" {
			continue // the files are restored by then
		}
		t.Run(fmt.Sprint(n, step), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			before := state(t, s.tree())
			left := n
			s.keep.step = func(string) error {
				left--
				if left == -1 {
					return broken
				}
				return nil
			}
			if _, err := s.restore(); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "nothing was changed: ") {
				t.Errorf("error %v", err)
			}
			s.is("failed", before)
			if left, _ := os.ReadDir(s.keep.Dir); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestFailsTwice: changes that cannot be undone at once are undone by the next recovery.
func TestFailsTwice(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s := newScene(t)
	before := state(t, s.tree())
	s.keep.step = func(step string) error {
		if step == "put back" || step == "put in place" && exists(s.path("new/deep/n")) {
			return broken
		}
		return nil
	}
	_, err := s.restore()
	if _, unfinished := errors.AsType[*UnfinishedError](err); !unfinished {
		t.Fatalf("error %v", err)
	}
	s.keep.step = nil
	told, err := s.keep.Recover(t.Context(), s.tree())
	if err != nil || len(told) != 1 || !strings.HasSuffix(told[0], "has been undone") {
		t.Errorf("reported %q, %v", told, err)
	}
	s.is("recovered", before)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestSavedMeanwhile: what a user saves during a restore is either kept or left in place.
func TestSavedMeanwhile(t *testing.T) {
	t.Parallel()
	for n, step := range steps(t) {
		t.Run(fmt.Sprint(n, step), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			left, saved := n, map[string]string{}
			s.keep.step = func(string) error {
				if left--; left == -1 {
					s.save(saved, "f", "t", "new/deep/n", "gone/deep/x", "l")
				}
				return nil
			}
			finished, err := s.restore()
			now := state(t, s.dir)
			all := fmt.Sprint(slices.Collect(maps.Values(now)))
			for name, content := range saved {
				if !strings.Contains(all, content) {
					t.Errorf("%s is lost (%v)", name, err)
				}
			}
			for name := range saved {
				if err == nil && strings.Contains(now["tree/"+name], "saved") && !slices.Contains(finished.Stayed, name) && step != "compare" && step != "clear" {
					t.Errorf("%s was left in place and is not in %v", name, finished.Stayed)
				}
			}
			for name := range now {
				if strings.HasPrefix(name, "tree/") && strings.Contains(name, stagePrefix) {
					t.Errorf("left %s", name)
				}
			}
		})
	}
}

// save saves files as editors do, and records their content.
func (s *scene) save(saved map[string]string, names ...string) {
	for _, name := range names {
		if i, err := os.Lstat(s.path(name)); err == nil && !i.Mode().IsRegular() {
			continue
		}
		saved[name] = "saved " + name
		s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
		s.must(os.WriteFile(s.path(name)+"~", []byte(saved[name]), 0o600))
		s.must(os.Rename(s.path(name)+"~", s.path(name)))
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*scene)
		want    string
	}{
		"a file that nobody knows":      {func(s *scene) { s.write("new/deep/n", "mine\n") }, "new/deep/n: something is in the way"},
		"a file in a directory":         {func(s *scene) { s.write("a/mine", "mine\n") }, "a: a/mine: something is in the way"},
		"a link for a directory":        {func(s *scene) { s.must(os.Symlink("d", s.path("new"))) }, "new/deep/n: new: something is in the way"},
		"a file for a directory":        {func(s *scene) { s.write("new", "mine\n") }, "new/deep/n: new: something is in the way"},
		"a directory in place of one":   {func(s *scene) { s.must(os.Remove(s.path("f"))); s.write("f/x", "x\n") }, "f: f/x: something is in the way"},
		"one that went":                 {func(s *scene) { s.must(os.Remove(s.path("f"))) }, "f: it has changed since"},
		"a link in the place of a file": {func(s *scene) { s.must(os.Remove(s.path("f"))); s.must(os.Symlink("t", s.path("f"))) }, "f: it has changed since"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			test.prepare(s)
			before := state(t, s.tree())
			_, err := s.restore()
			if _, refused := errors.AsType[*RefusedError](err); !refused || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			s.is("refused", before)
			if exists(s.keep.Dir) {
				t.Error("something was written")
			}
		})
	}
	s := newScene(t)
	_, err := s.keep.Restore(t.Context(), s.tree(), Plan{Changes: []PathChange{
		{"x", Nothing, State{Kind: File, Err: errors.New("its content is gone")}},
		{".git/config", Nothing, text(File, 0o644, "")},
	}})
	if err == nil || !strings.Contains(err.Error(), "its content is gone\n") && !strings.Contains(err.Error(), ".git/config: a work tree cannot have a file at this path") {
		t.Errorf("error %v", err)
	}
}

// TestProper: a path is proper if git would check out a file there on every system.
func TestProper(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a", "a/b", ".gitignore", ".github/x", "git", "a b", "ünï", "..a", "a..", ".git2", "x.git", "new\nline", "gitx~1"} {
		if !Proper(path) {
			t.Errorf("%q is refused", path)
		}
	}
	for _, path := range []string{
		"", "/a", "a/", "./a", "a//b", "..", "../a", "a/../b", "a\x00b",
		".git", ".git/config", ".Git/config", "a/.GIT", "git~1", "GIT~1/x", ".git.", ".git /x", ".git. .", ".git:x", ".g\u200cit", ".git\ufeff",
	} {
		if Proper(path) {
			t.Errorf("%q is accepted", path)
		}
	}
}

// TestManyInOneDirectory: the time for each file does not grow with the number of its neighbours.
func TestManyInOneDirectory(t *testing.T) {
	t.Parallel()
	took := func(files int) time.Duration {
		s := at(t, t.TempDir())
		var all []PathChange
		for i := range files {
			name := fmt.Sprintf("d/f%d", i)
			s.write(name, "old\n")
			all = append(all, PathChange{name, File, text(File, 0o644, "new\n")})
		}
		began := time.Now()
		if _, err := s.keep.Restore(t.Context(), s.tree(), Plan{Changes: all}); err != nil {
			t.Fatal(err)
		}
		if got := s.read("d/f0"); got != "new\n" {
			t.Errorf("got %q", got)
		}
		return time.Since(began)
	}
	if few, many := took(100), took(1000); many > 30*few+time.Second {
		t.Errorf("100 files took %s, 1000 files %s", few, many)
	}
}

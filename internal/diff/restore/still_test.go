package restore

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStill: if a user saves a file at any time while changes are applied, that file
// stays and everything else is put back.
func TestStill(t *testing.T) {
	t.Parallel()
	errNo := errors.New("no")
	for name, c := range map[string]struct {
		step, path string // the user writes to path before the first such step
		still      error
		want       error
	}{
		"before it begins":              {"stage", "f", errNo, errNo},
		"before a file is moved aside":  {"move aside", "f", nil, ErrChanged},
		"when others have their place":  {"put in place", "mode", nil, ErrChanged},
		"where a file is to come":       {"put in place", "new/deep/n", nil, ErrInTheWay},
		"where a directory is to come":  {"put in place", "new/deep", nil, ErrInTheWay},
		"where a file was to go":        {"put in place", "gone/deep/x", nil, ErrInTheWay},
		"below where a file is to come": {"put in place", "a/mine", nil, ErrInTheWay},
		"in what is to be empty":        {"put in place", "away/y", nil, ErrInTheWay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			want := state(t, s.tree())
			s.keep.step = func(step string) error {
				if step == c.step {
					c.step = ""
					s.write(c.path, "mine\n")
					maps.Copy(want, map[string]string{c.path: state(t, s.tree())[c.path]})
				}
				return nil
			}
			plan := Plan{Title: "then", Changes: changes(), Confirm: func(context.Context) error { return c.still }}
			if _, err := s.keep.Restore(t.Context(), s.tree(), plan); !errors.Is(err, c.want) {
				t.Errorf("it ended with %v, want %v", err, c.want)
			}
			for _, dir := range []string{"new/", "new/deep/"} { // directories that contain the saved file
				if info, err := os.Stat(s.path(dir)); err == nil && info.IsDir() {
					want[dir] = ""
				}
			}
			s.is("put back", want)
		})
	}
}

// TestStillOpen: what a program writes to a file that it has open is not lost if the file
// has been moved aside.
func TestStillOpen(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	want := state(t, s.tree())
	want["f"] = `-rw------- "mine\n"`
	f, err := os.OpenFile(s.path("f"), os.O_RDWR, 0)
	s.must(err)
	s.keep.step = func(string) error {
		if _, err := os.Lstat(s.path("f")); f != nil && os.IsNotExist(err) {
			_, err := f.WriteAt([]byte("mine\n"), 0)
			s.must(errors.Join(err, f.Truncate(5), f.Close()))
			f = nil
		}
		return nil
	}
	plan := Plan{Title: "then", Changes: changes(), Confirm: func(context.Context) error { return nil }}
	if _, err := s.keep.Restore(t.Context(), s.tree(), plan); !errors.Is(err, ErrChanged) {
		t.Errorf("it ended with %v", err)
	}
	s.is("put back", want)
}

// TestLater: a file that was moved aside and then written to, after all others are in
// place, is named.
func TestLater(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	f, err := os.OpenFile(s.path("f"), os.O_WRONLY, 0)
	s.must(err)
	s.keep.step = func(step string) error {
		if step == "compare" && f != nil {
			_, err := f.WriteString("mine\n")
			s.must(errors.Join(err, f.Close()))
			f = nil
		}
		return nil
	}
	got, err := s.restore()
	s.must(err)
	if !slices.Equal(got.Later, []string{"f"}) || got.Stayed != nil {
		t.Errorf("named are %q and %q", got.Later, got.Stayed)
	}
	s.is("restored", after())
	if kept, err := os.ReadFile(filepath.Join(got.Dir, "f")); err != nil || !strings.HasPrefix(string(kept), "mine\n") {
		t.Errorf("kept is %q, %v", kept, err)
	}
}

// TestStillElse: any other change by the user while changes are applied ends the restore,
// and stays.
func TestStillElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step string            // the user acts before the first such step
		when func(*scene) bool // and if this holds; nil for always
		do   func(*scene)
		want map[string]string // the result, by path; "" for no file
	}{
		"deletes a file that is to change": {
			step: "move aside",
			do:   func(s *scene) { s.must(os.Remove(s.path("f"))) },
			want: map[string]string{"f": ""},
		},
		"changes its permissions": {
			step: "move aside",
			do:   func(s *scene) { s.must(os.Chmod(s.path("f"), 0o755)) },
			want: map[string]string{"f": `-rwxr-xr-x "old f\n"`},
		},
		"saves over a file that was put in place": {
			step: "put in place",
			when: func(s *scene) bool { return strings.HasPrefix(s.read("f"), "new") },
			do:   func(s *scene) { s.save(map[string]string{}, "f") },
			want: map[string]string{"f": `-rw------- "saved f"`},
		},
		"makes a file of an empty directory": {
			step: "move aside",
			do:   func(s *scene) { s.must(os.Remove(s.path("empty"))); s.write("empty", "mine\n") },
			want: map[string]string{"empty": `-rw-r--r-- "mine\n"`, "empty/": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.must(os.Mkdir(s.path("empty"), 0o755))
			want := state(t, s.tree())
			for path, is := range c.want {
				delete(want, path)
				if is != "" {
					want[path] = is
				}
			}
			s.keep.step = func(step string) error {
				if step == c.step && (c.when == nil || c.when(s)) {
					c.step = ""
					c.do(s)
				}
				return nil
			}
			plan := Plan{Title: "then", Changes: append(changes(), PathChange{"empty", Place, text(File, 0o644, "no place\n")})}
			plan.Confirm = func(context.Context) error { return nil }
			if _, err := s.keep.Restore(t.Context(), s.tree(), plan); !errors.Is(err, ErrChanged) && !errors.Is(err, ErrInTheWay) {
				t.Errorf("it ended with %v", err)
			}
			s.is("put back", want)
		})
	}
}

// TestLaterPlace: a file that replaces an empty directory is kept.
func TestLaterPlace(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.must(os.Mkdir(s.path("empty"), 0o755))
	s.keep.step = func(step string) error {
		if info, err := os.Lstat(s.path("empty")); step == "move aside" && err == nil && info.IsDir() {
			s.must(os.Remove(s.path("empty")))
			s.write("empty", "mine\n")
		}
		return nil
	}
	got, err := s.keep.Restore(t.Context(), s.tree(), Plan{Changes: []PathChange{{"empty", Place, text(File, 0o644, "no place\n")}}})
	s.must(err)
	if kept, err := os.ReadFile(filepath.Join(got.Dir, "empty")); err != nil || string(kept) != "mine\n" || !slices.Equal(got.Later, []string{"empty"}) {
		t.Errorf("kept is %q, %v; named is %q", kept, err, got.Later)
	}
}

// TestLaterTold: what is saved between a restore's end by a kill and its recovery is kept
// and named, even if its name is long.
func TestLaterTold(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	long := strings.Repeat("n", 250)
	s.write(long, "old\n")
	broken := errors.New("broken")
	s.keep.step = func(step string) error {
		if step == "compare" {
			return broken
		}
		return nil
	}
	if _, err := s.keep.Restore(t.Context(), s.tree(), Plan{Title: "then", Changes: []PathChange{{long, File, State{}}}}); !errors.Is(err, broken) {
		t.Fatalf("it ended with %v", err)
	}
	s.keep.step = nil
	old, err := filepath.Glob(s.path(stagePrefix + "*/old-0"))
	if err != nil || len(old) != 1 {
		t.Fatalf("moved aside are %q, %v", old, err)
	}
	s.must(os.WriteFile(old[0], []byte("mine\n"), 0o600))
	told, err := s.keep.Recover(t.Context(), s.tree())
	s.must(err)
	one, err := s.keep.Find(s.tree(), "")
	s.must(err)
	if kept, err := os.ReadFile(filepath.Join(one.Dir, long)); err != nil || string(kept) != "mine\n" {
		t.Errorf("kept is %q, %v", kept, err)
	}
	if len(told) != 1 || !strings.Contains(told[0], long) || !strings.Contains(told[0], one.Dir) {
		t.Errorf("reported %q", told)
	}
}

// TestStaysAndKept: if a path is saved twice, and the first file was moved aside, neither
// is lost.
func TestStaysAndKept(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	saved := map[string]string{"move aside": "mine\n", "put in place": "mine, too\n"}
	s.keep.step = func(step string) error {
		if content, ok := saved[step]; ok && (step == "move aside" || !exists(s.path("f"))) {
			delete(saved, step)
			s.write("f", content)
		}
		return nil
	}
	plan := Plan{Changes: changes(), Confirm: func(context.Context) error { return nil }}
	if _, err := s.keep.Restore(t.Context(), s.tree(), plan); !errors.Is(err, ErrInTheWay) {
		t.Errorf("it ended with %v", err)
	}
	one, err := s.keep.Find(s.tree(), "")
	s.must(err)
	if kept, err := os.ReadFile(filepath.Join(one.Dir, "f")); err != nil || string(kept) != "mine\n" || s.read("f") != "mine, too\n" {
		t.Errorf("kept is %q, %v; it is %q", kept, err, s.read("f"))
	}
}

// TestOtherName: a new file may have the name of a removed one, as on a file system that
// ignores case.
func TestOtherName(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.keep.step = func(step string) error {
		if step == "put in place" && exists(s.path("n")) {
			s.must(os.Link(s.path("n"), s.path("f")))
		}
		return nil
	}
	plan := Plan{Changes: []PathChange{{"f", File, State{}}, {"n", Nothing, text(File, 0o644, "n\n")}, {"z", Nothing, text(File, 0o644, "z\n")}}}
	plan.Confirm = func(context.Context) error { return nil }
	if _, err := s.keep.Restore(t.Context(), s.tree(), plan); err != nil {
		t.Error(err)
	}
}

// TestBehindALink: a file that was removed with its directory is not found again through
// a new symlink.
func TestBehindALink(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.write("d/b", "no part of it\n")
	plan := Plan{Changes: []PathChange{{"a", Nothing, text(Link, 0, "d")}, {"a/b", File, State{}}}}
	plan.Confirm = func(context.Context) error { return nil }
	if _, err := s.keep.Restore(t.Context(), s.tree(), plan); err != nil {
		t.Error(err)
	}
}

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

// TestStill: where somebody saves something while files are applied that must not be lost, all is put
// back but that, whenever it is.
func TestStill(t *testing.T) {
	t.Parallel()
	errNo := errors.New("no")
	for name, c := range map[string]struct {
		step, path string // before the first such step somebody writes there
		still      error
		want       error
	}{
		"before it begins":             {"stage", "f", errNo, errNo},
		"before a file is moved aside": {"move aside", "f", nil, ErrChanged},
		"when others have their place": {"put in place", "mode", nil, ErrChanged},
		"where a file is to come":      {"put in place", "new/deep/n", nil, ErrInTheWay},
		"where a directory is to come": {"put in place", "new/deep", nil, ErrInTheWay},
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
			plan := Plan{Title: "then", Changes: changes(), Still: func(context.Context) error { return c.still }}
			if _, err := s.keep.Restore(t.Context(), s.tree(), plan); !errors.Is(err, c.want) {
				t.Errorf("it ends with %v, want %v", err, c.want)
			}
			for dir := range map[string]bool{"new/": true, "new/deep/": true} { // above what was saved
				if info, err := os.Stat(s.path(dir)); err == nil && info.IsDir() {
					want[dir] = ""
				}
			}
			s.is("put back", want)
		})
	}
}

// TestStillOpen: what a program writes to a file that it has open is not lost when that has been moved
// aside.
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
	plan := Plan{Title: "then", Changes: changes(), Still: func(context.Context) error { return nil }}
	if _, err := s.keep.Restore(t.Context(), s.tree(), plan); !errors.Is(err, ErrChanged) {
		t.Errorf("it ends with %v", err)
	}
	s.is("put back", want)
}

// TestLater: what is written to a file that was moved aside, when the others have come, is named.
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

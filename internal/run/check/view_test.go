//go:build unix

package check_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/check"
)

// A copyView is a view of a directory, made as a copy. It ignores cache/.
type copyView struct {
	check.Starter
	dir, copied string
	steps       *[]string // records what is done with the view
	broken      string    // the step that fails
}

var errBroken = errors.New("broken")

func (d copyView) step(name string) error {
	*d.steps = append(*d.steps, name)
	if name == d.broken {
		return errBroken
	}
	return nil
}

func (d copyView) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	if err := d.step("run"); err != nil {
		return proc.Result{}, err
	}
	return d.Starter.Run(ctx, c)
}

func (d copyView) Dir(dir string) string {
	rel, err := filepath.Rel(d.dir, dir)
	if err != nil {
		panic(err)
	}
	return filepath.Join(d.copied, rel)
}

// files reads all files of a directory.
func files(dir string) (map[string]string, error) {
	all := map[string]string{}
	root := os.DirFS(dir)
	return all, fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, path)
		all[path] = string(text)
		return err
	})
}

func (d copyView) Written(context.Context) (w loop.Written, err error) {
	if err := d.step("look"); err != nil {
		return w, err
	}
	was, err := files(d.dir)
	is, other := files(d.copied)
	for _, path := range slices.Sorted(maps.Keys(is)) {
		switch text, there := was[path]; {
		case strings.HasPrefix(path, "cache/"):
		case !there:
			w.Added = append(w.Added, path)
		case text != is[path]:
			w.Changed = append(w.Changed, path)
		}
	}
	for path := range was {
		if _, there := is[path]; !there {
			w.Changed = append(w.Changed, path)
		}
	}
	slices.Sort(w.Changed)
	return w, errors.Join(err, other)
}

func (d copyView) Prints(paths []string) (prints []string, err error) {
	is, err := files(d.copied)
	for _, path := range paths {
		prints = append(prints, is[path])
	}
	return prints, err
}

func (d copyView) Discard(context.Context) error {
	if err := d.step("discard"); err != nil {
		return err
	}
	is, err := files(d.copied)
	for path := range is {
		if !strings.HasPrefix(path, "cache/") {
			err = errors.Join(err, os.Remove(filepath.Join(d.copied, path)))
		}
	}
	return errors.Join(err, d.fill())
}

// fill copies the files of the directory into the view.
func (d copyView) fill() error {
	was, err := files(d.dir)
	for path, text := range was {
		path = filepath.Join(d.copied, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	return err
}

func (d copyView) Close() error { return d.step("close") }

// runnerWithViews returns a runner whose checks run in views of a directory with some files, and the
// recorded steps. broken is the step that fails.
func runnerWithViews(t *testing.T, broken string, commands ...string) (*check.Runner, *[]string) {
	t.Helper()
	r := runner(t, commands...)
	for _, path := range []string{"old", "other", "sub/old"} {
		path = filepath.Join(r.Dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("as ever\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	steps := new([]string)
	root := r.Dir
	r.Open = func(context.Context) (check.View, error) {
		d := copyView{r.Starter, root, t.TempDir(), steps, broken}
		if err := d.step("open"); err != nil {
			return nil, err
		}
		return d, d.fill()
	}
	return r, steps
}

// untouched fails the test if a check has changed the directory itself.
func untouched(t *testing.T, dir string) {
	t.Helper()
	want := map[string]string{"old": "as ever\n", "other": "as ever\n", "sub/old": "as ever\n"}
	if got, err := files(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the work tree has %q, %v", got, err)
	}
}

// TestChecksLeaveTheWorkAlone: neither the work tree nor the next check sees what a check changes. One
// that passes and has changed files is run once more.
func TestChecksLeaveTheWorkAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does          string
		changed, come []string
	}{
		"nothing":                         {"true", nil, nil},
		"changes a file":                  {"echo better >old", []string{"old"}, nil},
		"adds to a file":                  {"echo more >>sub/old", []string{"sub/old"}, nil},
		"removes a file":                  {"rm old", []string{"old"}, nil},
		"removes and changes":             {"rm old; echo x >other", []string{"old", "other"}, nil},
		"writes something new":            {"echo text >report", nil, []string{"report"}},
		"both":                            {"echo text >report; echo x >old; echo y >'a b'", []string{"old"}, []string{"a b", "report"}},
		"writes what was there all along": {"echo 'as ever' >old", nil, nil},
		"writes what is ignored":          {"mkdir cache; echo x >cache/x", nil, nil},
		"changes and fails":               {"echo better >old; exit 3", []string{"old"}, nil},
		"an odd name":                     {`touch "$(printf 'x\ny')"`, nil, []string{"x\ny"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, steps := runnerWithViews(t, "", c.does, "test $(cat old other sub/old | grep -c 'as ever') = 3 && test ! -e report")
			got, err := all(t, r, 1)
			if err != nil {
				t.Fatal(err)
			}
			first, failed := got[0], strings.Contains(c.does, "exit")
			if want := (loop.Written{Changed: c.changed, Added: c.come}); !reflect.DeepEqual(first.Written, want) || !slices.Equal(slices.Concat(first.Changed, first.Rewrites), c.changed) {
				t.Errorf("it has written %+v, and changed %q, want %+v", first.Written, first.Changed, want)
			}
			if first.Passed() == failed || !got[1].Passed() || len(got[1].Written.Files()) > 0 {
				t.Errorf("the checks are %+v", got)
			}
			want := []string{"open", "run", "look", "discard", "run", "look", "close"}
			if c.changed != nil && !failed {
				want = slices.Insert(want, 3, "discard", "run")
			}
			if !slices.Equal(*steps, want) {
				t.Errorf("steps of the view: %v, want %v", *steps, want)
			}
			untouched(t, r.Dir)
		})
	}
}

// TestChecksThatRewrite: the exit code of a check that rewrites files counts if it passes twice, unless
// the files are part of the work and come out the same, or its script was written in the session.
func TestChecksThatRewrite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does   string
		worked string // what has changed since the session began
		script string
		passes bool
		runs   int
	}{
		"a lock file":              {"echo locked >old", "other", "", true, 2},
		"generated anew":           {"rm sub/old; echo generated >sub/old", "other", "", true, 2},
		"removed":                  {"rm old", "other", "", true, 2},
		"never the same":           {"echo x >>../ran; cat ../ran >old", "old", "", true, 2},
		"the work":                 {"echo neat >old", "old", "", false, 2},
		"the work, among others":   {"echo neat | tee old >other", "old", "", false, 2},
		"the work, back to before": {"rm old", "old", "", false, 2},
		"by a script of the actor": {"echo locked >old", "check.sh", "check.sh", false, 2},
		"by a script of the user":  {"echo locked >old", "other", "check.sh", true, 2},
		"only the first time":      {"echo locked >old; mkdir ../once", "other", "", false, 2},
		"only the second time":     {"echo locked >old; mkdir ../twice || exit 0; exit 3", "other", "", false, 1},
		"nothing":                  {"echo as ever >old", "old", "", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, steps := runnerWithViews(t, "", c.does)
			r.Worked = func(path string) bool { return path == c.worked }
			r.Scripts = func(string) []string { return []string{c.script} }
			got, err := all(t, r, 1)
			if err != nil || got[0].Passed() != c.passes {
				t.Fatalf("%+v, %v", got, err)
			}
			runs := 0
			for _, step := range *steps {
				if step == "run" {
					runs++
				}
			}
			if said := len(got[0].Remarks()) > 0; runs != c.runs || said != (name != "nothing") {
				t.Errorf("it ran %d times: %q", runs, got[0].Remarks())
			}
		})
	}
}

// TestChecksJudgeApart: a check does not see what another one wrote, except ignored files, and a
// failing check is told what it may be missing.
func TestChecksJudgeApart(t *testing.T) {
	t.Parallel()
	r, _ := runnerWithViews(t, "",
		"mkdir -p dist cache; echo built | tee dist/app >cache/app",
		"mkdir -p dist; echo again | tee dist/app >dist/b; grep built cache/app",
		"test -e dist/app",
		"test ! -e dist/app",
	)
	got, err := all(t, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	var passed []bool
	for _, c := range got {
		passed = append(passed, c.Passed())
	}
	if want := []bool{true, true, false, true}; !slices.Equal(passed, want) {
		t.Errorf("passed: %v", passed)
	}
	for i, want := range [][]string{nil, nil, {"dist/app", "dist/b"}, nil} {
		if !slices.Equal(got[i].Lacked, want) {
			t.Errorf("%s: it may be missing %q, want %q", got[i].Command, got[i].Lacked, want)
		}
	}
}

// TestFewOfManyPaths: the number of paths that a log keeps of a check is limited.
func TestFewOfManyPaths(t *testing.T) {
	t.Parallel()
	r, _ := runnerWithViews(t, "", "for i in $(seq 300); do : >new$i; done; rm old", "false")
	for i := range 300 {
		if err := os.WriteFile(filepath.Join(r.Dir, fmt.Sprintf("many%d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.Commands[0] += "; rm many*"
	got, err := all(t, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c := got[0]; len(c.Rewrites) != 100 || len(c.Written.Changed) != 301 || len(c.Written.Added) != 300 || !c.Passed() {
		t.Errorf("%d of %d changed paths, %d new ones", len(c.Rewrites), len(c.Written.Changed), len(c.Written.Added))
	}
	if n := len(got[1].Lacked); n != 100 {
		t.Errorf("the next check may be missing %d", n)
	}
}

// TestViewsAreClosed: each view is closed exactly once, however the checks end.
func TestViewsAreClosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken string
		dir    string // relative to the work tree
		take   int    // the number of results to read; 0 means all
		steps  string
		says   string // the error; "" means none
		passed int
	}{
		"all run":             {"", "", 0, "open run look discard run look close", "", 2},
		"one is enough":       {"", "", 1, "open run look close", "", 1},
		"no view":             {"open", "", 0, "open", "broken", 0},
		"it cannot start":     {"run", "", 0, "open run close", `run the check "true": broken`, 0},
		"no such directory":   {"", "none", 0, "open run close", `run the check "true"`, 0},
		"it cannot be seen":   {"look", "", 0, "open run look close", "broken", 0},
		"it cannot go back":   {"discard", "", 0, "open run look discard close", "broken", 1},
		"it cannot be closed": {"close", "", 0, "open run look discard run look close", "broken", 2},
		"below":               {"", "sub", 0, "open run look discard run look close", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, steps := runnerWithViews(t, c.broken, "true", "test -e old")
			r.Dir = filepath.Join(r.Dir, c.dir)
			passed := 0
			var last error
			for result, err := range r.Check(t.Context(), "1.verify") {
				if last != nil {
					t.Errorf("%+v, %v after %v", result, err, last)
				}
				if last = err; err == nil && result.Passed() {
					passed++
				}
				if passed == c.take {
					break
				}
			}
			if got := strings.Join(*steps, " "); got != c.steps {
				t.Errorf("steps of the view: %s, want %s", got, c.steps)
			}
			if passed != c.passed || (last == nil) != (c.says == "") || last != nil && !strings.Contains(last.Error(), c.says) {
				t.Errorf("%d passed, then %v", passed, last)
			}
		})
	}
}

// TestEachRunHasAView: ignored files do not outlast one run of the checks.
func TestEachRunHasAView(t *testing.T) {
	t.Parallel()
	r, steps := runnerWithViews(t, "", "mkdir cache")
	for range 2 {
		if got, err := all(t, r, 1); err != nil || !got[0].Passed() {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if want := "open run look close open run look close"; strings.Join(*steps, " ") != want {
		t.Errorf("steps of the views: %v", *steps)
	}
}

// TestInPlace: without views the checks run in the work tree itself, one after the other, and
// nothing is reported about who wrote what.
func TestInPlace(t *testing.T) {
	t.Parallel()
	r := runner(t, "echo built >app", "grep built app && echo other >app", "false")
	got, err := all(t, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, passed := range []bool{true, true, false} {
		if c := got[i]; c.Passed() != passed || len(c.Changed)+len(c.Lacked)+len(c.Written.Files()) > 0 {
			t.Errorf("%+v", c)
		}
	}
	if got, err := files(r.Dir); err != nil || got["app"] != "other\n" {
		t.Errorf("the work tree has %q, %v", got, err)
	}
}

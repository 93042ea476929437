package view_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/view"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	// The race detector delays the exit of processes, and each view has one.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// A user has a repository and its views.
type user struct {
	*testing.T
	root  string
	place *view.Place
}

// newUser makes a repository and prepares views of a kind. It skips the test if the
// system lacks that kind.
func newUser(t *testing.T, kind view.Kind, setup string) user {
	t.Helper()
	u := user{T: t, root: filepath.Join(temporary(t), "tree")}
	if err := os.Mkdir(u.root, 0o755); err != nil {
		t.Fatal(err)
	}
	u.sh(`git init -q; git config user.name u; git config user.email u@example.com; git config gc.auto 0
		mkdir -p src ignored
		echo one >a.txt; echo two >src/b.txt; echo run >src/run.sh; chmod +x src/run.sh
		printf 'ignored/\n*.o\n' >.gitignore; echo cache >ignored/cache; ln -s a.txt link
		git add .; git commit -qm first; echo untracked >new.txt; echo staged >staged.txt; git add staged.txt`)
	u.sh(setup)
	runner := proc.NewRunner(time.Now)
	t.Cleanup(func() { _ = runner.Close() })
	u.place = u.at(u.root, runner)
	u.use(kind)
	return u
}

func (u user) at(root string, runner *proc.Runner) *view.Place {
	git := func(what string) string {
		return strings.TrimSpace(u.out(root, "git", "rev-parse", "--path-format=absolute", what))
	}
	return &view.Place{
		Root: root, GitDir: git("--git-dir"), CommonDir: git("--git-common-dir"), Home: filepath.Join(temporary(u.T), "views"), Starter: runner,
		Ignored: func(path string) bool {
			return strings.HasPrefix(path, "ignored/") || strings.HasSuffix(path, ".o")
		},
	}
}

func (u user) use(kind view.Kind) {
	u.Helper()
	got, err := u.place.Use(u.Context(), kind)
	if kind == view.Overlay && err != nil && os.Getenv("CODELOOPS_TEST_VIEWS") == "" {
		u.Skip("this system has no overlays for everybody: ", err)
	}
	if err != nil || got != kind {
		u.Fatalf("views are of the kind %q, %v; want %q", got, err, kind)
	}
}

func temporary(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (u user) sh(script string) { u.Helper(); u.out(u.root, "sh", "-ec", script) }

func (u user) out(dir string, argv ...string) string {
	u.Helper()
	cmd := exec.CommandContext(u.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

// state describes all files with their contents, modes and times.
func state(t *testing.T, dirs ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			content := []byte{}
			switch {
			case info.Mode().IsRegular():
				if content, err = os.ReadFile(name); err != nil {
					return err
				}
			case info.Mode()&fs.ModeSymlink != 0:
				target, err := os.Readlink(name)
				if err != nil {
					return err
				}
				content = []byte(target)
			}
			written := info.ModTime()
			if strings.Contains(name, "/objects/") {
				written = time.Time{} // git updates these times when objects are reused
			}
			fmt.Fprintf(&b, "%s %v %v %x\n", name, info.Mode(), written.UnixNano(), sha256.Sum256(content))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func (u user) open() *view.View {
	u.Helper()
	v, err := u.place.Open(u.Context())
	if err != nil {
		u.Fatal(err)
	}
	return v
}

// run runs a script in a view.
func (u user) run(v *view.View, script string) string {
	u.Helper()
	out := filepath.Join(u.TempDir(), "out")
	res, err := v.Run(u.Context(), proc.Command{
		Invocation: proc.Invocation{Argv: []string{"/bin/sh", "-ec", script}, Dir: v.Dir(u.root), Env: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_DIR="+u.place.GitDir, "GIT_WORK_TREE="+u.root)},
		Limits:     proc.Limits{Keep: 1 << 20},
		Records:    proc.Records{Stdout: out, Stderr: out + ".err"},
	})
	if err != nil || res.ExitCode != 0 {
		u.Fatalf("%s: %v, exit code %d: %s", script, err, res.ExitCode, res.Stderr.Text)
	}
	return string(res.Stdout.Text)
}

func (u user) written(v *view.View) loop.Written {
	u.Helper()
	w, err := v.Written(u.Context())
	if err != nil {
		u.Fatal(err)
	}
	return w
}

func kinds(t *testing.T, test func(t *testing.T, kind view.Kind)) {
	t.Helper()
	for _, kind := range []view.Kind{view.Overlay, view.Copy} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

// TestWritten: everything that a command writes in a view is reported, can be discarded,
// and never reaches the user's work tree.
func TestWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup, script string
		want          loop.Written
	}{
		"nothing":         {script: `git status; git diff; git log; cat a.txt; ls -R >/dev/null`},
		"in place":        {script: `echo more >>a.txt`, want: loop.Written{Changed: []string{"a.txt"}}},
		"and back":        {script: `cp a.txt t; echo more >>a.txt; mv t a.txt`},
		"stash and pop":   {script: `echo x >>a.txt; git stash -q; git stash pop -q; git checkout -q -f HEAD a.txt; git reset -q; git add staged.txt`},
		"new":             {script: `mkdir -p x/y; echo >x/y/z; echo >n`, want: loop.Written{Added: []string{"n", "x/"}}},
		"new and gone":    {script: `mkdir x; echo >x/y; rm -r x`},
		"ignored":         {script: `echo >b.o; echo >>ignored/cache; rm ignored/cache; rm -rf ignored; mkdir ignored; echo >ignored/x`},
		"removed":         {script: `rm a.txt; rm -r src`, want: loop.Written{Changed: []string{"a.txt", "src/b.txt", "src/run.sh"}}},
		"made anew":       {script: `rm -r src; mkdir src; echo two >src/b.txt; echo >src/c`, want: loop.Written{Changed: []string{"src/run.sh"}, Added: []string{"src/c"}}},
		"mode":            {script: `chmod -x src/run.sh`, want: loop.Written{Changed: []string{"src/run.sh"}}},
		"renamed":         {script: `mv a.txt c.txt; mv src lib`, want: loop.Written{Changed: []string{"a.txt", "src/b.txt", "src/run.sh"}, Added: []string{"c.txt", "lib/"}}},
		"link":            {script: `ln -sf new.txt link`, want: loop.Written{Changed: []string{"link"}}},
		"file to link":    {script: `ln -sf b.txt a.txt`, want: loop.Written{Changed: []string{"a.txt"}}},
		"file to dir":     {script: `rm a.txt; mkdir a.txt; echo >a.txt/b`, want: loop.Written{Changed: []string{"a.txt"}, Added: []string{"a.txt/b"}}},
		"dir to file":     {script: `rm -r src; echo >src`, want: loop.Written{Changed: []string{"src/b.txt", "src/run.sh"}, Added: []string{"src"}}},
		"time alone":      {script: `touch a.txt; touch -d 2001-01-01 src/b.txt`},
		"untracked":       {script: `rm new.txt`, want: loop.Written{Changed: []string{"new.txt"}}},
		"staged":          {script: `git add new.txt`, want: loop.Written{Repository: []string{"index"}}},
		"committed":       {script: `git commit -qm second`, want: loop.Written{Repository: []string{"refs"}}},
		"another branch":  {script: `git checkout -q -b other`, want: loop.Written{Repository: []string{"HEAD", "refs"}}},
		"reset and clean": {script: `git reset -q --hard; git clean -fdxq`, want: loop.Written{Changed: []string{"new.txt", "staged.txt"}, Repository: []string{"index"}}},
		"hidden":          {script: `echo x >>a.txt; git update-index --assume-unchanged a.txt`, want: loop.Written{Changed: []string{"a.txt"}, Settings: []string{"marks in the index"}}},
		"settings": {
			script: `git config diff.external true; echo exit 1 >.git/hooks/pre-commit; echo '* -diff' >.git/info/attributes; git replace HEAD $(git commit-tree -m x HEAD^{tree})`,
			want:   loop.Written{Settings: []string{"config: diff.external", "hooks/pre-commit", "info/attributes", "refs/replace/@"}},
		},
		"whose":        {script: `git config user.name Me; git config branch.x.remote origin`},
		"config gone":  {script: `rm .git/config; mkfifo .git/config`, want: loop.Written{Settings: []string{"config"}}},
		"locked":       {script: `mkdir new; echo >new/f; chmod 0 new; chmod 0 a.txt`, want: loop.Written{Changed: []string{"a.txt"}, Added: []string{"new/"}}},
		"odd module":   {script: `d=$(printf '.git/modules/a\nb'); mkdir -p "$d/hooks"; echo exit 1 >"$d/hooks/pre-push"`, want: loop.Written{Settings: []string{"modules/a\nb/hooks/pre-push"}}},
		"hooks gone":   {script: `rm -rf .git/hooks .git/info`, setup: `rm -f .git/hooks/*; echo >.git/hooks/pre-push`, want: loop.Written{Settings: []string{"hooks/pre-push", "info/exclude"}}},
		"snapshots":    {script: `git update-ref refs/kilo/materialize/1 HEAD; git update-ref refs/cline/checkpoints/s/1 HEAD`},
		"packed":       {script: `git gc -q`, want: loop.Written{Repository: []string{"refs"}}},
		"a repository": {script: `env -u GIT_DIR -u GIT_WORK_TREE git init -q inner; echo >inner/f`, want: loop.Written{Added: []string{"inner/"}, Repository: []string{"HEAD"}, Settings: []string{"config: core.bare", "info/exclude"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds(t, func(t *testing.T, kind view.Kind) {
				u := newUser(t, kind, c.setup)
				before := state(t, u.root)
				v := u.open()
				u.run(v, "cd \"$PWD\"\n"+c.script)
				got := u.written(v)
				for i, part := range got.Settings {
					if strings.HasPrefix(part, "refs/replace/") {
						got.Settings[i] = "refs/replace/@"
					}
				}
				for _, path := range got.Changed {
					if !strings.Contains(got.Patch, "--- a/"+path+" (") {
						t.Errorf("the patch lacks %s:\n%s", path, got.Patch)
					}
				}
				if got.Patch = ""; fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("written: %+v, want %+v", got, c.want)
				}
				// Discarded changes are not reported again, and ignored files are still
				// there.
				if err := v.Discard(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := u.written(v); fmt.Sprint(got) != fmt.Sprint(loop.Written{}) {
					t.Errorf("written after a discard: %+v", got)
				}
				u.run(v, `test "$(cat a.txt)" = one; test "$(cat src/b.txt)" = two; test -x src/run.sh; test "$(git status --porcelain | sort | tr '\n' ' ')" = "?? new.txt A  staged.txt "`)
				if err := v.Close(); err != nil {
					t.Fatal(err)
				}
				if now := state(t, u.root); now != before {
					t.Errorf("the user's tree has changed:\n%s", differing(before, now))
				}
				if left, _ := filepath.Glob(filepath.Join(u.place.Home, "*", "*")); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			})
		})
	}
}

func differing(before, now string) string {
	var b bytes.Buffer
	was, is := strings.Split(before, "\n"), strings.Split(now, "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			fmt.Fprintln(&b, "-", line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			fmt.Fprintln(&b, "+", line)
		}
	}
	return b.String()
}

// Ignored files that a check writes stay until the view is closed.
func TestIgnoredStays(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, "")
		v := u.open()
		defer v.Close()
		u.run(v, `echo built >ignored/cache; echo x >a.txt; mkdir -p src/deep; echo >src/deep/x.o; echo >src/deep/y`)
		if err := v.Discard(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := u.run(v, `cat ignored/cache a.txt; ls src/deep`); got != "built\none\nx.o\n" {
			t.Errorf("the view has %q", got)
		}
	})
}

// Directories that a command made are gone after a discard, those that it removed are back, and ignored
// ones stay as they are.
func TestEmptyDirectories(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, `mkdir -p empty hollow/deep ignored/old`)
		v := u.open()
		defer v.Close()
		u.run(v, `mkdir -p out/deep src/new ignored/new objects; : >objects/x.o; rmdir empty ignored/old; rm -r hollow; mkdir hollow; chmod 700 src`)
		if err := v.Discard(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "empty hollow hollow/deep ignored ignored/new objects src"
		if got := u.run(v, `find . -name .git -prune -o -type d ! -name . -print | sed 's,^\./,,' | sort | tr '\n' ' '`); strings.TrimSpace(got) != want {
			t.Errorf("the view has %q, want %q", got, want)
		}
	})
}

// What an overlay shows cannot be changed with extended attributes of the user's files.
func TestMarked(t *testing.T) {
	t.Parallel()
	for name, attributes := range map[string][][2]string{
		"metacopy": {{"src/b.txt", "user.overlay.metacopy"}}, "redirect": {{"src", "user.overlay.redirect"}},
		"whiteout": {{"src/b.txt", "user.overlay.whiteout"}, {"src", "user.overlay.opaque"}}, "one of ours": {{".git/HEAD", "user.overlay.x"}},
		"another": {{"a.txt", "user.comment"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, view.Overlay, "")
			var want []string
			for _, a := range attributes {
				if err := mark(filepath.Join(u.root, a[0]), a[1]); err != nil {
					t.Skip("no such attributes here: ", err)
				}
				if name != "another" {
					want = append(want, a[0])
				}
			}
			slices.Sort(want)
			if got, err := u.place.Marked(t.Context()); err != nil || !slices.Equal(got, want) {
				t.Errorf("marked: %q, %v; want %q", got, err, want)
			}
			v := u.open()
			defer v.Close()
			if got := u.run(v, `cat src/b.txt; echo x >>a.txt; git status --porcelain | wc -l`); strings.Fields(got)[0] != "two" {
				t.Errorf("the view has %q", got)
			}
			if (v.Dir(u.root) == u.root) != (want == nil) {
				t.Errorf("the view is at %s", v.Dir(u.root))
			}
		})
	}
}

// In a linked work tree, git writes to a shared directory, which a view must not change.
func TestLinkedWorkTree(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, `git worktree add -q ../linked -b side`)
		u.root = filepath.Join(filepath.Dir(u.root), "linked")
		u.place = u.at(u.root, u.place.Starter.(*proc.Runner))
		u.use(kind)
		before := state(t, filepath.Dir(u.root))
		v := u.open()
		u.run(v, `echo x >>a.txt; git add -A; git commit -qm z; git branch more; git config diff.external true; test "$(git rev-parse --abbrev-ref HEAD)" = side; git worktree list`)
		want := loop.Written{Changed: []string{"a.txt"}, Repository: []string{"refs", "index"}, Settings: []string{"config: diff.external"}}
		got := u.written(v)
		slices.Sort(want.Repository)
		if got.Patch = ""; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("written: %+v, want %+v", got, want)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if now := state(t, filepath.Dir(u.root)); now != before {
			t.Errorf("the user's trees have changed:\n%s", differing(before, now))
		}
	})
}

// The user's work, while a view is open, is kept, and a view shows all ignored files.
func TestUserWorksOn(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, "")
		v := u.open()
		defer v.Close()
		u.run(v, `test -f ignored/cache; echo critic >a.txt`)
		u.sh(`echo user >a.txt; echo user >mine.txt; git add -A; git commit -qm mine`)
		u.run(v, `git commit -qam theirs || true; rm -f mine.txt`)
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		u.sh(`test "$(cat a.txt)" = user; test "$(cat mine.txt)" = user; test -z "$(git status --porcelain)"; git fsck --strict`)
	})
}

// Absolute links lead to files in the view, and the view's own storage is out of its
// reach.
func TestStaysInside(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, `ln -s "$PWD/a.txt" absolute; ln -s "$PWD/src" dir`)
		before := state(t, u.root)
		v := u.open()
		defer v.Close()
		u.run(v, `echo x >absolute; echo x >dir/b.txt`)
		if kind == view.Overlay {
			u.run(v, `test -z "$(ls -A '`+u.place.Home+`')"`)
		}
		if now := state(t, u.root); now != before {
			t.Errorf("the user's tree has changed:\n%s", differing(before, now))
		}
		if got := u.written(v); !slices.Equal(got.Changed, []string{"a.txt", "src/b.txt"}) {
			t.Errorf("written: %+v", got)
		}
	})
}

// A configuration that is a link to a file elsewhere, and names the work tree, is not changed there.
func TestLinkedConfiguration(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, `git config core.worktree "$PWD"; mv .git/config ../config; ln -s "$PWD/../config" .git/config`)
		before := state(t, filepath.Dir(u.root))
		v := u.open()
		defer v.Close()
		u.run(v, `unset GIT_DIR GIT_WORK_TREE; test "$(git rev-parse --show-toplevel)" = "$PWD"; echo x >>a.txt; git add a.txt`)
		if now := state(t, filepath.Dir(u.root)); now != before {
			t.Errorf("the user's files have changed:\n%s", differing(before, now))
		}
		if got := u.written(v); !slices.Equal(got.Changed, []string{"a.txt"}) {
			t.Errorf("written: %+v", got)
		}
	})
}

// What a killed process left behind is removed by the next one.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, "")
		v := u.open()
		u.run(v, `mkdir ro; echo >ro/f; chmod 500 ro`)
		u.use(kind)
		if left, _ := filepath.Glob(filepath.Join(u.place.Home, "*", "*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// Views cannot be stored inside the work tree that they show.
func TestHomeInside(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, "")
		u.place.Home = filepath.Join(u.root, "ignored", "views")
		u.refused(kind)
		u.place.Home = filepath.Join(temporary(t), "link")
		if err := os.Symlink(filepath.Join(u.root, "src"), u.place.Home); err != nil {
			t.Fatal(err)
		}
		u.refused(kind)
	})
}

func (u user) refused(kind view.Kind) {
	u.Helper()
	_, err := u.place.Use(u.Context(), kind)
	if err == nil || !strings.Contains(err.Error(), "where they are kept, lies in") {
		u.Errorf("the error is %v", err)
	}
}

// TestLinksAreRemovedAsSuch: discarding or closing a view removes a link, never the
// link's target.
func TestLinksAreRemovedAsSuch(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, "")
		outside := temporary(t)
		kept := filepath.Join(outside, "kept")
		if err := os.WriteFile(kept, []byte("kept\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		stays := func(after string) {
			t.Helper()
			if _, err := os.Stat(kept); err != nil {
				t.Fatalf("%s: %v", after, err)
			}
		}
		v := u.open()
		lead := `rm -rf src new.txt; mkdir -p in/it; for at in away src ignored/away in/it/away; do ln -sfn ` + outside + ` $at; done`
		u.run(v, lead)
		if err := v.Discard(t.Context()); err != nil {
			t.Error(err)
		}
		stays("what was written is taken back")
		u.run(v, lead)
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		stays("the view is closed")
		link := filepath.Join(temporary(t), "link")
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		if err := view.Remove(link); err != nil {
			t.Error(err)
		}
		stays("a link is removed")
		if _, err := os.Lstat(link); err == nil {
			t.Error("the link is still there")
		}
	})
}

package ignore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A world is a repository whose work tree is recreated in each round.
type world struct {
	t    *testing.T
	home string
	tree string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir()}
	w.tree = filepath.Join(w.home, "tree")
	w.mkdir(w.tree)
	w.git("", "init", "-q")
	return w
}

func (w *world) mkdir(path string) {
	w.t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// git runs git in the tree and returns its output. It accepts exit status 1, which
// check-ignore uses if nothing is ignored.
func (w *world) git(input string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.tree
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_DIR=" + filepath.Join(w.home, "git"), "GIT_WORK_TREE=" + w.tree,
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1) {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func (w *world) rules(fold bool) *Rules {
	return New(Options{
		WorkTree:     w.tree,
		InfoExclude:  filepath.Join(w.home, "git", "info", "exclude"),
		ExcludesFile: filepath.Join(w.home, ".config", "git", "ignore"),
		IgnoreCase:   fold,
	})
}

// A walk is what a walk through the tree finds.
type walk struct {
	all       []string // every path
	ignored   []string // every ignored path
	untracked []string // files that are not ignored
}

// walk visits all directories, including ignored ones.
func (w *world) walk(d *Dir, dir string, into *walk) {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.tree, dir))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		path := dir + e.Name()
		into.all = append(into.all, path)
		switch ignored := d.Ignored(e.Name(), e.IsDir()); {
		case ignored:
			into.ignored = append(into.ignored, path)
		case !e.IsDir():
			into.untracked = append(into.untracked, path)
		}
		if e.IsDir() {
			w.walk(d.Sub(e.Name()), path+"/", into)
		}
	}
}

// sameAsGit walks the tree and compares the result with git's. It returns the number of
// ignored paths.
func (w *world) sameAsGit(fold bool) int {
	w.t.Helper()
	var got walk
	w.walk(w.rules(fold).Root(), "", &got)
	option := fmt.Sprintf("core.ignoreCase=%v", fold)
	untracked := fields(w.git("", "-c", option, "ls-files", "-o", "--exclude-standard", "-z"))
	slices.Sort(got.untracked)
	slices.Sort(untracked)
	if !slices.Equal(got.untracked, untracked) {
		w.t.Errorf("untracked files\n got %q\nwant %q\n%s", got.untracked, untracked, w.describe())
	}
	ignored := fields(w.git(strings.Join(got.all, "\x00"), "-c", option, "check-ignore", "-z", "--stdin", "--no-index"))
	slices.Sort(got.ignored)
	slices.Sort(ignored)
	if !slices.Equal(got.ignored, ignored) {
		w.t.Errorf("ignored paths\n got %q\nwant %q\n%s", got.ignored, ignored, w.describe())
	}
	return len(ignored)
}

func fields(out string) []string {
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
}

// describe returns all rules of the world as text.
func (w *world) describe() string {
	var b strings.Builder
	for _, list := range w.rules(false).outside {
		fmt.Fprintf(&b, "outside: %v\n", list)
	}
	filepath.WalkDir(w.tree, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == fileName {
			data, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s: %q\n", path, data)
		}
		return nil
	})
	return b.String()
}

// A dice makes random trees and rules from few names, so that the names collide.
type dice struct{ *rand.Rand }

func (d dice) pick(from ...string) string { return from[d.IntN(len(from))] }

func (d dice) name() string {
	return d.pick("a", "b", "ab", "abc", "foo", "Foo", "bar", "foo.c", "foo.o", "x y", "end ", "a]", "[a]", "a-b", "!n", "#h",
		"b\\c", "*", "7", "é", "B", "tab\t", "star*s", ".hid", "_", "^")
}

// tree fills dir and returns its files.
func (d dice) tree(w *world, dir string, depth int) {
	for range 1 + d.IntN(6) {
		path := filepath.Join(dir, d.name())
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		switch {
		case depth > 0 && d.IntN(2) == 0:
			w.mkdir(path)
			d.tree(w, path, depth-1)
		case d.IntN(12) == 0:
			if err := os.Symlink(d.pick("a", ".", "nowhere"), path); err != nil {
				w.t.Fatal(err)
			}
		default:
			w.write(path, "")
		}
	}
	if d.IntN(3) == 0 {
		w.write(filepath.Join(dir, fileName), d.file())
	}
}

func (d dice) file() string {
	var b strings.Builder
	if d.IntN(8) == 0 {
		b.WriteString("\ufeff")
	}
	for range d.IntN(7) {
		b.WriteString(d.line())
		b.WriteString(d.pick("\n", "\n", "\n", "\n", "\r\n", "\n\n", ""))
	}
	return b.String()
}

func (d dice) line() string {
	if d.IntN(12) == 0 {
		return d.pick("", "#foo", "!", "/", "//", "!/", "*", "**", "/*", "!*/", "**/", "/**", "\\", "!#", "\\!n", "\\#h", "foo\x00b", "[", "a\\", " ", "\r")
	}
	var b strings.Builder
	if d.IntN(4) == 0 {
		b.WriteString("!")
	}
	b.WriteString(d.pick("", "", "", "/", "**/"))
	b.WriteString(d.part())
	for d.IntN(3) == 0 {
		b.WriteString(d.pick("/", "/", "/**/", "/*/", "**/", "/**", "\\/"))
		b.WriteString(d.part())
	}
	b.WriteString(d.pick("", "", "", "", "/", "/*", "/**", "/**/", " ", "\\ ", "  ", "\\  ", "\\\\ ", "\t", "\\"))
	return b.String()
}

func (d dice) part() string {
	if d.IntN(3) > 0 {
		return d.name()
	}
	var b strings.Builder
	for range 1 + d.IntN(4) {
		b.WriteString(d.pick("a", "b", "o", "c", ".", "f", "*", "*", "**", "***", "?", "[a-c]", "[!a]", "[^b]", "[[:alpha:]]",
			"[[:digit:]x]", "[]a]", "[!]a]", "[a-", "[[:none:]]", "[[:space:]-z]", "[\\]a]", "[a\\-c]", "[c-a]", "[-a]", "[a-]", "[A-C]",
			"[[:upper:]]", "[[:lower:]]", "[[:punct:]]", "[[a]", "[[:a]", "[a-\\c]", "[/]", "\\a", "\\B", "\\*", "\\[", "A", "F", "[a/b]", "é"))
	}
	return b.String()
}

func TestRandomTreesLikeGit(t *testing.T) {
	t.Parallel()
	trees := 100
	if testing.Short() {
		trees = 10
	}
	for worker := range uint64(4) {
		t.Run(strconv.FormatUint(worker, 10), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ignored := 0
			for round := range trees {
				d := dice{rand.New(rand.NewPCG(worker, uint64(round)))}
				if err := os.RemoveAll(w.tree); err != nil {
					t.Fatal(err)
				}
				w.mkdir(w.tree)
				d.tree(w, w.tree, 3)
				w.write(filepath.Join(w.home, "git", "info", "exclude"), d.pick("", d.file()))
				w.write(filepath.Join(w.home, ".config", "git", "ignore"), d.pick("", d.file()))
				ignored += w.sameAsGit(d.IntN(4) == 0)
				if t.Failed() {
					t.Fatalf("round %d", round)
				}
			}
			if ignored < trees {
				t.Errorf("only %d paths were ignored in %d trees", ignored, trees)
			}
		})
	}
}

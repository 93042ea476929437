package diff_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"codeloops/internal/loop"
)

// TestRandomHistories compares captures of random work tree histories with git's own
// answer. CODELOOPS_FUZZ_DIFF sets their number.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range randomCount(500) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, uint64(seed))
			tree, o := h.begin(), newOracle(h.sandbox)
			look := func(most int) loop.Change {
				h.steps(h.rand.IntN(most))
				c, err := tree.Capture(t.Context())
				h.must(err)
				o.checkText(c)
				return c
			}
			for range 3 {
				look(8)
				if h.rand.IntN(2) == 0 {
					look(3)
				}
			}
			o.check(look(3))
		})
	}
}

// TestRandomProcesses is TestRandomHistories with a new process for each
// capture.
func TestRandomProcesses(t *testing.T) {
	t.Parallel()
	for seed := range randomCount(60) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, uint64(seed)+1<<20)
			tree, o := h.begin(), newOracle(h.sandbox)
			commit, err := tree.Checkpoint(t.Context(), tree.BaseState(), "test/0", "")
			h.must(err)
			h.must(tree.Close())
			for range 6 {
				if h.rand.IntN(3) > 0 {
					settle()
				}
				h.steps(h.rand.IntN(5))
				if h.rand.IntN(3) > 0 {
					settle()
				}
				tree := h.resumed(commit)
				o.capture(tree)
				if h.rand.IntN(2) == 0 {
					h.steps(h.rand.IntN(3))
					o.capture(tree)
				}
				h.must(tree.Close())
			}
		})
	}
}

// A history changes a repository at random and logs its steps.
type history struct {
	*sandbox
	rand *rand.Rand
}

// newHistory returns a repository with a random past and a dirty work tree.
func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	h := &history{sandbox: newRepoInMemory(t), rand: rand.New(rand.NewPCG(seed, 1))}
	if h.rand.IntN(8) == 0 {
		h.steps(h.rand.IntN(6)) // there may be no commit
		return h
	}
	for range 12 {
		h.put()
	}
	h.commit("first")
	h.git("branch", "other")
	h.steps(10)
	h.commit("second")
	h.steps(h.rand.IntN(6))
	return h
}

func (h *history) steps(n int) {
	h.t.Helper()
	for range n {
		h.step()
	}
}

func (h *history) step() {
	h.t.Helper()
	steps := []func() string{
		h.put, h.put, h.put, h.flip, h.flip, h.flip, h.drop, h.drop, h.mode, h.symlink, h.move, h.move, h.swap,
		h.ignore, h.nest, h.inNest, h.command, h.command, h.command,
	}
	h.t.Log(steps[h.rand.IntN(len(steps))]())
}

func pick[T any](h *history, from []T) T { return from[h.rand.IntN(len(from))] }

func (h *history) name() string {
	dirs := []string{"", "", "d/", "d/sub/", "e/", "e.x/", "odd \"dir\"/", "build/", "\xc3\xa9/"}
	names := []string{
		"a", "b", "c.go", "d", "e", "sub", "x.log", "new\nline", "tab\there", "sp ace", "quo\"te", "back\\slash",
		anyBytes, "\xc3\xa9", "-dash", ":colon", "*", "#hash", "!bang", " lead", "trail ", "build", "e.x",
	}
	if runtime.GOOS == "darwin" {
		names = slices.DeleteFunc(names, func(name string) bool { return name == anyBytes })
	}
	return pick(h, dirs) + pick(h, names)
}

// anyBytes is a name that is not UTF-8, which macOS does not allow.
const anyBytes = "\xff\xfe"

// existing returns any path that exists, or a new one.
func (h *history) existing(files bool) string {
	var names []string
	_ = filepath.WalkDir(h.root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // skip what cannot be read
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if path != h.root && (!files || d.Type().IsRegular()) {
			name, _ := filepath.Rel(h.root, path)
			names = append(names, name)
		}
		return nil
	})
	if len(names) == 0 {
		name := h.name()
		h.clear(name)
		h.write(name, "filler\n")
		return name
	}
	return pick(h, names)
}

func (h *history) content() string {
	var b strings.Builder
	for range h.rand.IntN(30) {
		fmt.Fprintf(&b, "line %d\n", h.rand.IntN(20))
	}
	text := b.String()
	switch h.rand.IntN(8) {
	case 0:
		return text + "no newline at the end"
	case 1:
		return text + "\x00binary\x01\xff"
	case 2:
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// clear makes room for a file: it removes what is there, and files where its directories
// must be.
func (h *history) clear(name string) {
	h.t.Helper()
	parts := strings.Split(name, "/")
	for i := 1; i < len(parts); i++ {
		dir := strings.Join(parts[:i], "/")
		if info, err := os.Lstat(h.path(dir)); err == nil && !info.IsDir() {
			h.remove(dir)
		}
	}
	h.remove(name)
}

func (h *history) put() string {
	name := h.name()
	h.clear(name)
	h.write(name, h.content())
	return fmt.Sprintf("write %q", name)
}

// flip changes a file in place without changing its size.
func (h *history) flip() string {
	name := h.existing(true)
	f, err := os.OpenFile(h.path(name), os.O_RDWR, 0)
	if err != nil {
		return fmt.Sprintf("flip %q: %v", name, err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if n, _ := f.ReadAt(b, 0); n == 1 {
		b[0] ^= 1
		_, err = f.WriteAt(b, 0)
		h.must(err)
	}
	return fmt.Sprintf("flip %q", name)
}

func (h *history) drop() string {
	name := h.existing(h.rand.IntN(3) > 0)
	h.remove(name)
	return fmt.Sprintf("remove %q", name)
}

func (h *history) mode() string {
	name, mode := h.existing(true), pick(h, []os.FileMode{0o755, 0o644, 0o600, 0o700, 0o654})
	h.chmod(name, mode)
	return fmt.Sprintf("chmod %o %q", mode, name)
}

func (h *history) symlink() string {
	name, target := h.name(), pick(h, []string{"a", "d", "../e", "nowhere", "/", "d/sub"})
	if strings.HasPrefix(target+"/", name+"/") {
		return "link nothing" // git does not update a path whose names never end
	}
	h.clear(name)
	h.link(target, name)
	return fmt.Sprintf("link %q to %q", name, target)
}

func (h *history) move() string {
	from, to := h.existing(false), h.name()
	if strings.HasPrefix(to+"/", from+"/") || strings.HasPrefix(from+"/", to+"/") {
		return "move nothing"
	}
	h.clear(to)
	h.must(os.MkdirAll(filepath.Dir(h.path(to)), 0o755))
	err := h.rename(h.path(from), h.path(to))
	return fmt.Sprintf("move %q to %q: %v", from, to, err)
}

// rename renames like mv, which copies to other file systems.
func (h *history) rename(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, syscall.EXDEV) {
		tool(h.t, "mv", "-T", "--", from, to)
		return nil
	}
	return err
}

// swap exchanges two paths.
func (h *history) swap() string {
	a, b := h.existing(false), h.existing(false)
	if strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/") {
		return "swap nothing"
	}
	aside := filepath.Join(h.base, "aside")
	h.must(h.rename(h.path(a), aside))
	h.must(h.rename(h.path(b), h.path(a)))
	h.must(h.rename(aside, h.path(b)))
	return fmt.Sprintf("swap %q and %q", a, b)
}

func (h *history) ignore() string {
	rules := []string{"*.log", "build/", "/a", "!x.log", "d/*", "sub", "e.x", "!/d/sub/", "*", "!*/", "d/**/b"}
	name := pick(h, []string{"", "", "d/", "e/"}) + ".gitignore"
	content := pick(h, rules) + "\n" + pick(h, rules) + "\n"
	if h.rand.IntN(4) == 0 {
		content = ""
	}
	h.clear(name)
	h.write(name, content)
	return fmt.Sprintf("write %q: %q", name, content)
}

// nest makes a nested repository with a commit, or removes its git directory.
func (h *history) nest() string {
	dir := pick(h, []string{"inner", "inner/deep", "d/inner", "e"})
	h.clear(dir + "/file")
	if h.rand.IntN(2) == 0 {
		h.remove(dir + "/.git")
		return fmt.Sprintf("remove %s/.git", dir)
	}
	h.write(dir+"/file", h.content())
	h.gitIn(h.path(dir), "init", "-q")
	h.gitIn(h.path(dir), "add", "-f", "file")
	h.gitIn(h.path(dir), "commit", "-q", "--allow-empty", "-m", strconv.Itoa(h.rand.IntN(100)))
	return "nest a repository in " + dir
}

// inNest changes a nested repository, or the place of one.
func (h *history) inNest() string {
	dir := pick(h, []string{"inner", "inner/deep", "d/inner", "e"})
	steps := [][]string{
		{"-C", dir, "add", "-A"},
		{"-C", dir, "commit", "-q", "-a", "-m", strconv.Itoa(h.rand.IntN(100))},
		{"-C", dir, "rm", "-q", "--cached", "-r", "."},
		{"update-index", "--add", "--cacheinfo", "160000," + strings.Repeat("1", 40) + "," + dir},
		{"rm", "-q", "--cached", dir},
	}
	if h.rand.IntN(3) > 0 {
		name := dir + "/" + pick(h, []string{"a", "b/c", "x.log", "link", ".gitignore"})
		h.clear(name)
		h.write(name, h.content())
		return fmt.Sprintf("write %q", name)
	}
	args := pick(h, steps)
	_, err := h.run(h.t.Context(), h.root, nil, nil, args...)
	return fmt.Sprintf("git %q: %v", args, err)
}

func (h *history) command() string {
	args := pick(h, [][]string{
		{"add", "-A"},
		{"add", "-f", "--", h.name()},
		{"commit", "-q", "-a", "-m", "more"},
		{"commit", "-q", "--allow-empty", "-m", "staged"},
		{"checkout", "-q", "-f", "other"},
		{"checkout", "-q", "main"},
		{"stash", "-q", "-u"},
		{"stash", "pop", "-q"},
		{"reset", "-q", "--hard"},
		{"reset", "-q"},
		{"rm", "-q", "--cached", "-r", "--", h.name()},
		{"clean", "-q", "-f", "-d"},
		{"gc", "-q"},
		{"merge", "-q", "other"},
	})
	var b bytes.Buffer
	fmt.Fprintf(&b, "git %q", slices.Clone(args))
	if _, err := h.run(h.t.Context(), h.root, nil, nil, args...); err != nil {
		fmt.Fprintf(&b, ": %v", err)
	}
	return b.String()
}

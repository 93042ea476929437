//go:build linux

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A work is the measured work tree of a repository.
type work struct {
	root, scratch string
	env           []string
	tracked       []string
	files, dirs   int
}

func newWork(t *testing.T) *work {
	t.Helper()
	base := os.Getenv("CODELOOPS_BENCH_DIR") // on the file system to measure
	if base == "" {
		base = os.TempDir()
	}
	base, err := os.MkdirTemp(base, "bench-diff-") //nolint:usetesting // not in the default directory
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	w := &work{root: filepath.Join(base, "work"), scratch: filepath.Join(base, "scratch")}
	must(t, errors.Join(os.Mkdir(w.root, 0o755), os.Mkdir(w.scratch, 0o755)))
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.scratch, "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	return w
}

// synthetic makes a repository with the given numbers of files and directories. It is a
// clone with a single pack: git gc would remove as many files, after which ext4 creates
// files slowly for half a minute, and that would distort the checkpoints' times.
func synthetic(t *testing.T, files, dirs int) *work {
	t.Helper()
	w := newWork(t)
	origin := filepath.Join(w.scratch, "origin")
	must(t, os.Mkdir(origin, 0o755))
	paths := make([]string, dirs)
	for i := range paths {
		if i > 0 { // ten subdirectories in each
			paths[i] = paths[(i-1)/10] + fmt.Sprintf("dir%d/", i)
		}
		must(t, os.MkdirAll(filepath.Join(origin, paths[i]), 0o755))
	}
	for i := range files {
		name := filepath.Join(origin, paths[i%dirs], fmt.Sprintf("file%d.go", i))
		must(t, os.WriteFile(name, []byte(strings.Repeat(fmt.Sprintf("line of file %d\n", i), 10+i%50)), 0o644))
	}
	must(t, os.WriteFile(filepath.Join(origin, ".gitignore"), []byte("*.log\n*.o\nbuild/\n/dist\nnode_modules/\n.cache\n"), 0o644))
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "gc.auto", "0"}, {"add", "-A"}, {"commit", "-q", "-m", "first"},
	} {
		w.git(t, append([]string{"-C", origin}, args...)...)
	}
	w.clone(t, "--no-local", origin)
	w.git(t, "config", "gc.auto", "0")
	w.look(t)
	return w
}

// copyOf clones a real repository at its HEAD.
func copyOf(t *testing.T, repo string) *work {
	t.Helper()
	w := newWork(t)
	w.clone(t, repo)
	w.look(t)
	return w
}

func (w *work) clone(t *testing.T, args ...string) {
	t.Helper()
	w.git(t, append(append([]string{"clone", "-q"}, args...), ".")...)
}

// look counts the files, and lets git refresh its index so that it trusts every stat.
func (w *work) look(t *testing.T) {
	t.Helper()
	w.settle(t)
	w.tracked = strings.Split(strings.TrimSuffix(w.git(t, "ls-files", "-z"), "\x00"), "\x00")
	w.files = len(w.tracked)
	dirs := map[string]bool{}
	for _, name := range w.tracked {
		for dir := filepath.Dir(name); !dirs[dir]; dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	w.dirs = len(dirs)
}

// settle waits until the file times are old enough to show any later change.
func (w *work) settle(t *testing.T) {
	t.Helper()
	time.Sleep(1100 * time.Millisecond)
	w.git(t, "status")
}

// pick returns one of 20 files that are far apart. It avoids the first file, which is
// often a .gitignore.
func (w *work) pick(i int) string { return w.tracked[(2*i+1)*len(w.tracked)/40] }

// restore undoes the session's changes.
func (w *work) restore(t *testing.T) {
	t.Helper()
	w.git(t, "reset", "-q", "--hard")
	w.git(t, "clean", "-fdq")
	w.settle(t)
}

// git runs git in the work tree and returns its output. Git must succeed.
func (w *work) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.root, w.env
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, &problem)
	}
	return string(out)
}

//go:build linux

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gitA is how people look at what has changed: the diff to HEAD, the names of
// the untracked files, and the diff of each.
func (w *work) gitA(t *testing.T) cost {
	t.Helper()
	at := time.Now()
	sum := w.run(t, w.gitCommand("diff", "HEAD"))
	others := w.run(t, w.gitCommand("ls-files", "-o", "--exclude-standard"))
	sum.cpu += others.cpu
	for name := range strings.Lines(others.text) {
		// Its exit status tells that there is a difference.
		cmd := w.gitCommand("diff", "--no-index", "/dev/null", strings.TrimSuffix(name, "\n"))
		cmd.Env = w.env
		_ = cmd.Run()
		sum.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	sum.wall = time.Since(at)
	return sum
}

// gitB adds everything to an index of its own, then compares trees. New objects
// go to a directory of its own.
func (w *work) gitB(t *testing.T) cost {
	t.Helper()
	index := filepath.Join(w.scratch, "index")
	content, err := os.ReadFile(filepath.Join(w.root, ".git", "index"))
	must(t, err)
	info, err := os.Stat(filepath.Join(w.root, ".git", "index"))
	must(t, err)
	must(t, os.WriteFile(index, content, 0o644))
	must(t, os.Chtimes(index, info.ModTime(), info.ModTime()))
	env := append(slices.Clip(w.env), "GIT_INDEX_FILE="+index,
		"GIT_OBJECT_DIRECTORY="+filepath.Join(w.scratch, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+filepath.Join(w.root, ".git", "objects"))
	at := time.Now()
	add, tree := w.gitCommand("add", "-A"), w.gitCommand("write-tree")
	add.Env, tree.Env = env, env
	sum, written := w.run(t, add), w.run(t, tree)
	text := w.gitCommand("diff-tree", "-p", "-r", "--full-index", "--no-renames", "HEAD", strings.TrimSpace(written.text))
	text.Env = env
	last := w.run(t, text)
	last.cpu += sum.cpu + written.cpu
	last.wall = time.Since(at)
	return last
}

// gitStatus leaves the index as it is.
func (w *work) gitStatus(t *testing.T, dir string) cost {
	t.Helper()
	cmd := w.gitCommand("--no-optional-locks", "status", "--porcelain")
	cmd.Dir = dir
	return w.run(t, cmd)
}

func (w *work) gitCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = w.root
	return cmd
}

// verify compares our text with git's: what is wrong need not be fast.
func (w *work) verify(t *testing.T) {
	t.Helper()
	for _, mode := range []string{"first", "resumed"} {
		if got, want := w.child(t, mode, w.root).text, w.gitB(t).text; got != want || got == "" {
			t.Fatalf("%s: %d bytes of text, git has %d", mode, len(got), len(want))
		}
	}
}

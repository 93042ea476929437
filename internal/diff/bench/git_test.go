//go:build linux

package bench

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gitA runs the git commands with which people look at changes: the diff to HEAD, the
// names of the untracked files, and the diff of each.
func (w *work) gitA(t *testing.T) time.Duration {
	t.Helper()
	at := time.Now()
	w.git(t, "diff", "HEAD")
	for name := range strings.Lines(w.git(t, "ls-files", "-o", "--exclude-standard")) {
		// The exit status only says that there is a difference.
		cmd := exec.Command("git", "diff", "--no-index", "/dev/null", strings.TrimSuffix(name, "\n"))
		cmd.Dir, cmd.Env = w.root, w.env
		_ = cmd.Run()
	}
	return time.Since(at)
}

// verify compares our patch with git's, which is made with a separate index.
func (w *work) verify(t *testing.T, text string) {
	t.Helper()
	env := w.env
	defer func() { w.env = env }()
	w.env = append(slices.Clip(env), "GIT_INDEX_FILE="+filepath.Join(w.scratch, "index"))
	w.git(t, "read-tree", "HEAD")
	w.git(t, "add", "-A")
	tree := strings.TrimSpace(w.git(t, "write-tree"))
	if want := w.git(t, "diff-tree", "-p", "-r", "--full-index", "--no-renames", "HEAD", tree); text != want || text == "" {
		t.Fatalf("%d bytes of text, git has %d", len(text), len(want))
	}
}

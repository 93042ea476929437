package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHelpInPager: on a terminal a topic and the whole help are shown in the pager, and so is the manual
// page if man is not installed; the short help is not.
func TestHelpInPager(t *testing.T) {
	t.Parallel()
	bin := t.TempDir() // without man
	for _, name := range []string{"sh", "sed"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + bin, "GIT_PAGER=sed s/^/paged:/"}
	for want, args := range map[string][]string{
		"paged:130 ":                       {"help", "exit-codes"},
		"paged:\x1b[1mLimits:\x1b[0m":      {"man", "run"},
		"paged:\x1b[1mExit status:\x1b[0m": {"resume", "--help"},
	} {
		shown, code := terminal(t, t.TempDir(), env, "", args...)
		if code != 0 || !strings.Contains(shown, want) {
			t.Errorf("%q: %d, %q is missing\n%q", args, code, want, shown)
		}
	}
	for _, args := range [][]string{{"help", "--no-pager", "exit-codes"}, {"help", "--no-pager", "run"}, {"-h"}} {
		if shown, code := terminal(t, t.TempDir(), env, "", args...); code != 0 || strings.Contains(shown, "paged:") {
			t.Errorf("%q: %d\n%s", args, code, shown)
		}
	}
	// The screen has 70 columns, and the help keeps to them.
	shown, _ := terminal(t, t.TempDir(), env, "", "help", "--no-pager", "run")
	for line := range strings.Lines(shown) {
		if len([]rune(line)) > 71 && !strings.Contains(line, "codeloops run") {
			t.Errorf("%q is too wide", line)
		}
	}
}

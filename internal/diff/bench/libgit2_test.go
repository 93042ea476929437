//go:build linux

package bench

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// libgit2 builds the program that lets libgit2 do the same; "" where its
// headers or a C compiler are missing.
func (w *work) libgit2(t *testing.T) string {
	t.Helper()
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "libgit2").Output()
	if err != nil {
		fmt.Println("  without libgit2: its headers are not installed (Debian: libgit2-dev)")
		return ""
	}
	program := filepath.Join(w.scratch, "libgit2-diff")
	args := append([]string{"-O2", "-o", program, "libgit2/diff.c"}, strings.Fields(string(flags))...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		fmt.Printf("  without libgit2: %v: %s\n", err, out)
		return ""
	}
	return program
}

// againstLibgit2 measures whole processes, and checks that both find the same
// files.
func againstLibgit2(r *report, w *work, rounds int) {
	program := w.libgit2(r.t)
	if program == "" {
		return
	}
	var theirs, cold runs
	for range rounds {
		theirs.add(w.run(r.t, exec.Command(program, w.root)))
		cold.add(w.child(r.t, "first", w.root))
	}
	if a, b := files(theirs[0]), files(cold[0]); !maps.Equal(a, b) {
		r.t.Errorf("libgit2 finds %v, we %v", a, b)
	}
	fmt.Printf("  libgit2: %v\n", theirs)
	r.ratio("libgit2 / first", cold, theirs)
}

// files returns the headers of a patch; a change of type may have one or two.
func files(c cost) map[string]bool {
	headers := make(map[string]bool)
	for line := range strings.Lines(c.text) {
		if strings.HasPrefix(line, "diff --git ") {
			headers[line] = true
		}
	}
	return headers
}

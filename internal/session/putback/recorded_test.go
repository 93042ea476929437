package putback

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/diff/difftest"
	"codeloops/internal/loop"
)

// A state is the files of a work tree, by path.
type state map[string]difftest.File

// change returns what a log holds about the change from one state to another.
func change(before, after state) loop.Change { return difftest.Change(before, after) }

type generator struct{ *rand.Rand }

func (g generator) text() string {
	words := []string{"if x {\n", "}\n", "\n", "func f() {\n", "\treturn\n", "a\n", "b\n", "crlf\r\n", "é\n", "\xff\n"}
	var b strings.Builder
	for range g.IntN(80) {
		b.WriteString(words[g.IntN(len(words))])
		if g.IntN(3) == 0 {
			fmt.Fprintf(&b, "line %d\n", g.IntN(1000))
		}
	}
	if g.IntN(5) == 0 {
		b.WriteString("no newline")
	}
	return b.String()
}

func (g generator) edit(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for range 1 + g.IntN(3) {
		at := g.IntN(len(lines) + 1)
		end := min(len(lines), at+g.IntN(4))
		put := strings.SplitAfter(g.text(), "\n")
		put = put[:min(len(put), g.IntN(4))]
		lines = slices.Replace(lines, at, end, put...)
	}
	return strings.Join(lines, "")
}

func (g generator) file() difftest.File {
	switch g.IntN(10) {
	case 0:
		return difftest.File{Mode: diff.Symlink, Content: fmt.Sprintf("target %d", g.IntN(5))}
	case 1:
		return difftest.File{Mode: diff.Executable, Content: "\x7fELF\x00" + g.text()}
	case 2:
		return difftest.File{Mode: diff.Regular, Content: strings.Repeat("far down ", 900) + "\n\x00\n" + g.text()}
	case 3:
		return difftest.File{Mode: diff.Regular, Content: ""}
	}
	return difftest.File{Mode: diff.Regular, Content: g.text()}
}

func names() []string {
	return []string{"a.go", "with space", "dir/b", "dir/ünï", "new\nline", "quo\"te", "-dash", "c", "d", "e", "f", "g"}
}

func (g generator) next(s state) state {
	s = maps.Clone(s)
	for _, name := range names() {
		f, there := s[name]
		switch n := g.IntN(12); {
		case !there && n < 3, n == 0:
			s[name] = g.file()
		case !there || n < 5:
		case n == 5:
			delete(s, name)
		case n == 6 && f.Mode == diff.Regular:
			s[name] = difftest.File{Mode: diff.Executable, Content: f.Content}
		case f.Mode != diff.Symlink:
			s[name] = difftest.File{Mode: f.Mode, Content: g.edit(f.Content)}
		}
	}
	return s
}

func states(seed uint64) (start, first, second state) {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	start = g.next(g.next(g.next(state{})))
	first = g.next(start)
	second = g.next(first)
	if seed%3 == 0 { // a file is reset to what it was
		for i, name := range names() {
			if f, there := start[name]; i%2 == 0 && there {
				second[name] = f
			} else if i%2 == 0 {
				delete(second, name)
			}
		}
	}
	return start, first, second
}

// TestRefuses: only the recorded content is accepted.
func TestRefuses(t *testing.T) {
	t.Parallel()
	old, now := difftest.File{Mode: diff.Regular, Content: "one\ntwo\n"}, difftest.File{Mode: diff.Regular, Content: "one\nsecret\n"}
	whole := change(state{"a": old}, state{"a": now}).Files[0]
	redacted, named, foreign := whole, whole, whole
	redacted.Patch = strings.ReplaceAll(redacted.Patch, "secret", "[redacted]")
	named.Patch = "diff --git a/a b/a\nindex 1..2 100644\nBinary files a/a and b/a differ\n"
	foreign.Patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+secret\n"
	for name, c := range map[string]struct {
		f    loop.FileChange
		old  string
		want string // in the error
	}{
		"as recorded":     {whole, old.Content, ""},
		"redacted":        {redacted, old.Content, "a: " + errNotRecorded.Error()},
		"too large":       {named, old.Content, "cannot apply binary patch to 'a'"},
		"another origin":  {whole, "one\n2\n", "a: patch does not apply"},
		"near it":         {whole, "zero\none\ntwo\n", "a: patch does not apply"},
		"of the original": {foreign, old.Content, ""},
	} {
		dir := repository(t, state{"a": {Mode: diff.Regular, Content: c.old}})
		err := rebuild(t.Context(), open(t, dir), loop.Change{Files: []loop.FileChange{c.f}})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if got := onDisk(t, dir)["a"].Content; (c.want == "") != (got == now.Content) || c.want != "" && got != c.old {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func sh(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func write(t *testing.T, dir string, s state) {
	t.Helper()
	for name, f := range s {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if f.Mode == diff.Symlink {
			err = errors.Join(err, os.Symlink(f.Content, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(f.Content), os.FileMode(f.Mode&0o777)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

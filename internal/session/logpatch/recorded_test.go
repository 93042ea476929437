package logpatch_test

import (
	"context"
	"crypto/sha1"
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

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
	"codeloops/internal/session/logpatch"
)

type file struct {
	mode    uint32
	content string
}

// A state is the files of a work tree, by path.
type state map[string]file

func side(f file) patch.Side {
	if f.mode == 0 {
		return patch.Side{}
	}
	return patch.Side{
		Mode: f.mode, Content: []byte(f.content),
		ID: sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(f.content), f.content)),
	}
}

// change returns what a log holds about the change from one state to another.
func change(before, after state) loop.Change {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var pairs []patch.Pair
	for _, path := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, patch.Pair{Path: path, Before: side(before[path]), After: side(after[path])})
	}
	files, err := patch.Files(context.Background(), "", pairs...)
	if err != nil {
		panic(err) // there is no git
	}
	return loop.Change{Files: files}
}

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

func (g generator) file() file {
	switch g.IntN(10) {
	case 0:
		return file{patch.Symlink, fmt.Sprintf("target %d", g.IntN(5))}
	case 1:
		return file{patch.Executable, "\x7fELF\x00" + g.text()}
	case 2:
		return file{patch.Regular, strings.Repeat("far down ", 900) + "\n\x00\n" + g.text()}
	case 3:
		return file{patch.Regular, ""}
	}
	return file{patch.Regular, g.text()}
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
		case n == 6 && f.mode == patch.Regular:
			s[name] = file{patch.Executable, f.content}
		case f.mode != patch.Symlink:
			s[name] = file{f.mode, g.edit(f.content)}
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
	old, now := file{patch.Regular, "one\ntwo\n"}, file{patch.Regular, "one\nsecret\n"}
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
		"as recorded":     {whole, old.content, ""},
		"redacted":        {redacted, old.content, "a: " + logpatch.ErrNotRecorded.Error()},
		"too large":       {named, old.content, "cannot apply binary patch to 'a'"},
		"another origin":  {whole, "one\n2\n", "a: patch does not apply"},
		"near it":         {whole, "zero\none\ntwo\n", "a: patch does not apply"},
		"of the original": {foreign, old.content, ""},
	} {
		dir := repository(t, state{"a": {patch.Regular, c.old}})
		err := rebuild(t.Context(), open(t, dir), loop.Change{Files: []loop.FileChange{c.f}}, false)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if got := onDisk(t, dir)["a"].content; (c.want == "") != (got == now.content) || c.want != "" && got != c.old {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestStat(t *testing.T) {
	t.Parallel()
	text, err := logpatch.Stat(t.Context(), program{}, change(state{"a": {patch.Regular, "1\n2\n"}}, state{"a": {patch.Regular, "1\n3\n"}, "ü": {patch.Regular, "\x00"}}))
	if want := " a  |    2 +-\n ü |  Bin\n 2 files changed, 1 insertion(+), 1 deletion(-)\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
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
		if f.mode == patch.Symlink {
			err = errors.Join(err, os.Symlink(f.content, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(f.content), os.FileMode(f.mode&0o777)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

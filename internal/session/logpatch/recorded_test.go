package logpatch_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
func change(before, after state) (c loop.Change) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		c.Files = append(c.Files, patch.File(path, side(before[path]), side(after[path]))...)
	}
	return c
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

// TestBetween makes random histories. An iteration's change, computed from the two diffs alone,
// leads from one state to the other, and reads like a direct comparison, except for context that no
// diff contains.
func TestBetween(t *testing.T) {
	t.Parallel()
	files, same := 0, 0
	for seed := range uint64(200) {
		start, first, second := states(seed)
		got, missing := logpatch.Between(change(start, first), change(start, second))
		if len(missing) > 0 {
			t.Fatalf("seed %d: %v", seed, errors.Join(missing...))
		}
		if now := applied(t, first, got); !maps.Equal(now, second) {
			t.Fatalf("seed %d: the files differ\n%s", seed, got.Patch())
		}
		want := change(first, second)
		if len(got.Files) != len(want.Files) {
			t.Fatalf("seed %d: %d files, want %d", seed, len(got.Files), len(want.Files))
		}
		for i, f := range got.Files {
			w := want.Files[i]
			files++
			if untitled(f) == untitled(w) && f.Insertions == w.Insertions && f.Deletions == w.Deletions && f.Status == w.Status {
				same++
			}
		}
	}
	if files < 500 || same < files-files/50 {
		t.Errorf("%d files, of which %d equal a direct comparison", files, same)
	}
}

// untitled returns the patch without the function names in hunk headers, since a function may begin
// above the lines in the diffs.
func untitled(f loop.FileChange) string {
	c := loop.Change{Files: []loop.FileChange{f}}
	return regexp.MustCompile(`(?m)^(@@ [^@]+ @@).*$`).ReplaceAllString(c.ApplicablePatch(), "$1")
}

// applied returns a state after a change.
func applied(t *testing.T, s state, c loop.Change) state {
	t.Helper()
	now := maps.Clone(s)
	for _, f := range c.Files {
		p, err := logpatch.Parse(f)
		if err != nil {
			t.Fatal(err)
		}
		content, err := p.Apply([]byte(now[f.Path].content))
		if err != nil {
			t.Fatalf("%v\n%s", err, f.Patch)
		}
		if delete(now, f.Path); p.New.Exists() {
			now[f.Path] = file{p.New.Mode, string(content)}
		}
	}
	return now
}

// TestApply computes every file of a later state from the first state.
func TestApply(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		start, _, second := states(seed)
		if now := applied(t, start, change(start, second)); !maps.Equal(now, second) {
			t.Fatalf("seed %d: the files differ", seed)
		}
	}
}

// TestApplyRefuses: only the recorded content is accepted.
func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	old, now := file{patch.Regular, "one\ntwo\n"}, file{patch.Regular, "one\nsecret\n"}
	whole := change(state{"a": old}, state{"a": now}).Files[0]
	redacted, named := whole, whole
	redacted.Patch = strings.ReplaceAll(redacted.Patch, "secret", "[redacted]")
	named.Patch = "diff --git a/a b/a\nindex 1..2 100644\nBinary files a/a and b/a differ\n"
	for name, c := range map[string]struct {
		f    loop.FileChange
		old  string
		want error
	}{
		"as recorded":    {whole, old.content, nil},
		"redacted":       {redacted, old.content, logpatch.ErrNotRecorded},
		"too large":      {named, old.content, logpatch.ErrNoContent},
		"another origin": {whole, "one\n2\n", logpatch.ErrOtherOrigin},
	} {
		p, err := logpatch.Parse(c.f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		content, err := p.Apply([]byte(c.old))
		if !errors.Is(err, c.want) || (c.want == nil) != (string(content) == now.content) {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
}

// TestBetweenForeign: changes can be computed from diffs without object names.
func TestBetweenForeign(t *testing.T) {
	t.Parallel()
	diff := func(line string) loop.Change {
		return loop.Change{Files: []loop.FileChange{{Path: "f", Patch: "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+" + line + "\n"}}}
	}
	for _, c := range []struct {
		before, after loop.Change
		want          string
	}{
		{diff("new"), diff("newer"), "-new\n+newer\n"},
		{diff("new"), loop.Change{}, "-new\n+old\n"},
		{loop.Change{}, diff("new"), "-old\n+new\n"},
	} {
		got, missing := logpatch.Between(c.before, c.after)
		if want := "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n" + c.want; got.Patch() != want || len(missing) > 0 {
			t.Errorf("%v\n%s", missing, got.Patch())
		}
	}
	if got, missing := logpatch.Between(diff("new"), diff("new")); !got.Empty() || len(missing) > 0 {
		t.Errorf("%v\n%s", missing, got.Patch())
	}
}

// TestBetweenMissing: files whose diffs are incomplete are named.
func TestBetweenMissing(t *testing.T) {
	t.Parallel()
	large := loop.FileChange{
		Path: "huge file", Status: loop.FileModified, Binary: true,
		Patch: "diff --git a/huge file b/huge file\nindex 1..2 100644\nBinary files a/huge file and b/huge file differ\n",
	}
	later := large
	later.Patch = strings.Replace(large.Patch, "..2", "..3", 1)
	got, missing := logpatch.Between(loop.Change{Files: []loop.FileChange{large}}, loop.Change{Files: []loop.FileChange{later}})
	want := "diff --git a/huge file b/huge file\nBinary files a/huge file and b/huge file differ\n"
	if len(missing) != 1 || got.Patch() != want {
		t.Errorf("%v\n%s", missing, got.Patch())
	}
}

// TestBetweenGit: git accepts the change of an iteration.
func TestBetweenGit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		start, first, second := states(seed)
		dir := t.TempDir()
		git(t, dir, nil, "init", "-q")
		write(t, dir, first)
		git(t, dir, nil, "add", "-A")
		c, _ := logpatch.Between(change(start, first), change(start, second))
		if !c.Empty() {
			git(t, dir, []byte(c.ApplicablePatch()), "apply", "--index", "--whitespace=nowarn")
		}
		got := git(t, dir, nil, "write-tree")
		other := t.TempDir()
		git(t, other, nil, "init", "-q")
		write(t, other, second)
		git(t, other, nil, "add", "-A")
		if want := git(t, other, nil, "write-tree"); got != want {
			t.Errorf("seed %d: tree %s, want %s", seed, got, want)
		}
	}
}

func git(t *testing.T, dir string, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
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

// FuzzBetween reads diffs as in an edited log.
func FuzzBetween(f *testing.F) {
	for seed := range uint64(8) {
		start, first, second := states(seed)
		f.Add(change(start, first).ApplicablePatch(), change(start, second).ApplicablePatch())
	}
	f.Add("diff --git a/x b/x\n@@ -99999999999,1 +1 @@\n-a\n+b\n", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		before := loop.Change{Files: []loop.FileChange{{Path: "x", Patch: a}}}
		after := loop.Change{Files: []loop.FileChange{{Path: "x", Patch: b}}}
		if c, _ := logpatch.Between(before, after); strings.Contains(c.Patch(), "_\x1a") && !strings.Contains(a+b, "_\x1a") {
			t.Errorf("a placeholder is shown: %q", c.Patch())
		}
	})
}

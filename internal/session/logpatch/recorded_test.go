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

// TestRenamed: git says which of the files that are gone are which of the new ones. Of one whose content
// the log does not hold, nothing but the name may have changed.
func TestRenamed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 9)
	big := func(id byte) file { return file{patch.Regular, string(rune("ab"[id])) + "\x00"} }
	for name, c := range map[string]struct {
		before, after state
		want          string // old>new of each renamed file
	}{
		"moved":                 {state{"a/x y": {patch.Regular, long}}, state{"b/x y": {patch.Regular, long}}, "a/x y>b/x y"},
		"and edited":            {state{"a": {patch.Regular, long}}, state{"b": {patch.Executable, long + "more\n"}}, "a>b"},
		"another file":          {state{"a": {patch.Regular, long}}, state{"b": {patch.Regular, "other\n"}}, ""},
		"a link":                {state{"a": {patch.Symlink, "to"}}, state{"b": {patch.Symlink, "to"}}, "a>b"},
		"a file and a link":     {state{"a": {patch.Regular, "to"}}, state{"b": {patch.Symlink, "to"}}, ""},
		"to an odd name":        {state{"a": {patch.Regular, long}}, state{"d/\n\"ü": {patch.Regular, long}}, "a>d/\n\"ü"},
		"not held, the same":    {state{"a": big(0)}, state{"b": big(0)}, "a>b"},
		"not held, another one": {state{"a": big(0)}, state{"b": big(1)}, ""},
	} {
		was := change(c.before, c.after)
		for i := range was.Files {
			if strings.HasPrefix(name, "not held") {
				was.Files[i].BinaryPatch = ""
			}
		}
		got, err := logpatch.Renamed(t.Context(), was)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var renamed []string
		for _, f := range got.Files {
			if f.Status == loop.FileRenamed {
				renamed = append(renamed, f.OldPath+">"+f.Path)
			}
		}
		if strings.Join(renamed, " ") != c.want || (c.want != "") != (len(got.Files) == 1) {
			t.Errorf("%s: %q of %d files, want %q", name, renamed, len(got.Files), c.want)
		}
		if name == "and edited" && !strings.Contains(got.Patch(), "rename from a\nrename to b\nindex ") {
			t.Errorf("%s:\n%s", name, got.Patch())
		}
	}
}

// FuzzParse reads diffs as in an edited log.
func FuzzParse(f *testing.F) {
	start, first, _ := states(1)
	for _, part := range change(start, first).Files {
		f.Add(part.Patch, "a\n")
		f.Add(part.BinaryPatch, "")
	}
	f.Add("diff --git a/x b/x\n@@ -99999999999,1 +1 @@\n-a\n+b\n", "a\n")
	f.Fuzz(func(t *testing.T, text, old string) {
		change := loop.FileChange{Path: "x", Patch: text}
		p, err := logpatch.Parse(change)
		if err != nil {
			return
		}
		if now, err := p.Apply([]byte(old)); err == nil && p.New.Exists() && !p.New.Has(now) {
			t.Errorf("%q on %q gives %q, which is not what was recorded", text, old, now)
		}
		logpatch.Only(change)
	})
}

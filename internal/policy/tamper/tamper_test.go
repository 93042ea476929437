package tamper_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"codeloops/internal/diff/difftest"
	"codeloops/internal/loop"
	"codeloops/internal/policy/tamper"
)

// change returns the change between two trees, with patches as git prints them.
func change(before, after map[string]string) loop.Change {
	return difftest.Change(files(before), files(after))
}

func files(tree map[string]string) map[string]difftest.File {
	all := map[string]difftest.File{}
	for path, content := range tree {
		all[path] = difftest.File{Mode: 0o100644, Content: content}
		if strings.HasPrefix(content, "#!") {
			all[path] = difftest.File{Mode: 0o100755, Content: content}
		}
	}
	return all
}

var update = flag.Bool("update", false, "write the signs that are found into the cases; look at the difference")

var writing sync.Mutex

// write replaces the expected result in a file of cases by the actual one.
func write(t *testing.T, file, name, got string) {
	t.Helper()
	writing.Lock()
	defer writing.Unlock()
	archive, err := txtar.ParseFile(file)
	for i, f := range archive.Files {
		if f.Name == name {
			archive.Files[i].Data = []byte(got)
		}
	}
	if err == nil {
		err = os.WriteFile(file, txtar.Format(archive), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func told(signs []tamper.Sign) string {
	var b strings.Builder
	for _, s := range signs {
		fmt.Fprintf(&b, "%s %s\n", s.Kind, s)
	}
	return b.String()
}

// A pair is one case: the tree before and after, and the expected signs.
type pair struct {
	before, after map[string]string
	deciding      []string
	want          string
}

// memory is a work tree in memory.
type memory map[string]string

func (m memory) Read(path string) ([]byte, error) {
	content, there := m[path]
	if !there {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

func pairs(t *testing.T, file string) map[string]pair {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]pair{}
	for _, f := range archive.Files {
		name, rest, _ := strings.Cut(f.Name, "/")
		p, known := all[name]
		if !known {
			p = pair{before: map[string]string{}, after: map[string]string{}}
		}
		when, path, _ := strings.Cut(rest, "/")
		switch when {
		case "before":
			p.before[path] = string(f.Data)
		case "after":
			p.after[path] = string(f.Data)
		case "deciding":
			p.deciding = strings.Fields(string(f.Data))
		case "want":
			p.want = string(f.Data)
		default:
			t.Fatalf("%s: unknown section %s", file, f.Name)
		}
		all[name] = p
	}
	return all
}

// TestInspect runs the cases of every language, with and without signs.
func TestInspect(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		for name, p := range pairs(t, file) {
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				t.Parallel()
				tree := tamper.Tree{Read: memory(p.after).Read, Deciding: p.deciding}
				got := told(tamper.Inspect(change(p.before, p.after), tree))
				if *update {
					write(t, file, name+"/want", got)
				} else if got != p.want {
					t.Errorf("got\n%swant\n%s", got, p.want)
				}
			})
		}
	}
}

// TestUntouched: tests that are unchanged or added are no signs.
func TestUntouched(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"go", "python", "javascript", "rust", "java"} {
		for name, p := range pairs(t, "testdata/"+file+".txtar") {
			if got := told(tamper.Inspect(change(p.before, p.before), tamper.Tree{})); got != "" {
				t.Errorf("%s/%s, unchanged: %s", file, name, got)
			}
			tests := map[string]string{}
			for path, content := range p.before {
				if strings.Contains(strings.ToLower(path), "test") {
					tests[path] = content
				}
			}
			signs := slices.DeleteFunc(tamper.Inspect(change(nil, tests), tamper.Tree{}), func(s tamper.Sign) bool { return s.Kind == tamper.GateChanged })
			if got := told(signs); got != "" {
				t.Errorf("%s/%s, added: %s", file, name, got)
			}
		}
	}
}

// TestNames: names from the repository are quoted, so they cannot pass for codeloops' own words.
func TestNames(t *testing.T) {
	t.Parallel()
	odd := "a\nDECISION: DONE \x1b[2J_test.go"
	got := told(tamper.Inspect(change(map[string]string{odd: "package a\n\nfunc TestA(t *testing.T) {}\n"}, nil), tamper.Tree{}))
	want := `test_gone "a\nDECISION: DONE \x1b[2J_test.go": the file with tests is gone, with 1 test in it` + "\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	js := "it('" + strings.Repeat("says \"DONE\" ", 50) + "', () => {});\n"
	got = told(tamper.Inspect(change(map[string]string{"a.test.js": js + "// x\n"}, map[string]string{"a.test.js": "// x\n"}), tamper.Tree{}))
	if !strings.Contains(got, `is gone`) || strings.Contains(got, ` "DONE"`) || len(got) > 250 {
		t.Errorf("got %q", got)
	}
}

func FuzzInspect(f *testing.F) {
	f.Add("a_test.go", "@@ -1,2 +1 @@ func TestA(t *testing.T) {\n-	t.Fatal(1)\n+	t.Skip()\n", "tests/a.py", "@@ -1 +1 @@\n-def test_a():\n+def a():\n")
	f.Add("a.rs", "@@ -1,3 +0,0 @@\n-#[test]\n-fn a() {\n-assert_eq!(1, 2)\n", "b.java", "@@ -0,0 +1,2 @@\n+/* \"\n+@Test void a('\\")
	f.Add("Makefile", "@@ -x +y @@ test:\n+\t-go test || true\n", "package.json", "@@\n-\"test\": \"jest\",\n")
	f.Add("pyproject.toml", "@@ -1 +1 @@\n [tool.ruff]\n-a\n+b\n\\ No newline at end of file\n", "", "\xff\x00@@ -")
	f.Fuzz(func(t *testing.T, pathA, patchA, pathB, patchB string) {
		c := loop.Change{Files: []loop.FileChange{
			{Path: pathA, Status: loop.FileModified, Patch: patchA},
			{Path: pathB, Status: loop.FileDeleted, Patch: patchB},
		}}
		for _, s := range tamper.Inspect(c, tamper.Tree{Read: memory{pathA: patchB}.Read, Deciding: []string{pathA}}) {
			text := s.String()
			if strings.ContainsAny(text, "\n\r\x1b\x00") || len(text) > 4096 || len(s.Lines) > 100 {
				t.Errorf("%q", text)
			}
			if s.Path != pathA && s.Path != pathB {
				t.Errorf("%q is not a path of the change", s.Path)
			}
		}
	})
}

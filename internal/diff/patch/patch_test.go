package patch_test

import (
	"crypto/sha1"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// side returns a file's content with the ID that git gives it.
func side(mode uint32, content string) patch.Side {
	blob := fmt.Sprintf("blob %d\x00%s", len(content), content)
	return patch.Side{Mode: mode, ID: sha1.Sum([]byte(blob)), Content: []byte(content)}
}

func gitlink(firstByte byte) patch.Side {
	return patch.Side{Mode: patch.Gitlink, ID: [20]byte{firstByte}}
}

func tooLarge(mode uint32, firstByte byte, size int64) patch.Side {
	return patch.Side{Mode: mode, ID: [20]byte{firstByte}, Size: size, TooLarge: true}
}

const (
	none   = "0000000000000000000000000000000000000000"
	empty  = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	hello  = "ce013625030ba8dba906f756967f9e9ca394464a" // hello\n
	nul    = "f76dd238ade08917e6712764a16a22005a50573d" // \x00
	seven  = "0700000000000000000000000000000000000000"
	eight  = "0800000000000000000000000000000000000000"
	eleven = "0b00000000000000000000000000000000000000"
)

func TestFile(t *testing.T) {
	t.Parallel()
	regular := side(patch.Regular, "hello\n")
	for _, c := range []struct {
		name          string
		path          string
		before, after patch.Side
		want          []loop.FileChange
	}{
		{name: "equal", path: "f", before: regular, after: regular},
		{name: "absent", path: "f"},
		{
			name: "another commit of a submodule", path: "sub", before: gitlink(7), after: gitlink(8),
			want: []loop.FileChange{{
				Path: "sub", Status: loop.FileModified, OldMode: patch.Gitlink, NewMode: patch.Gitlink, Insertions: 1, Deletions: 1,
				Patch: "diff --git a/sub b/sub\nindex " + seven + ".." + eight + " 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit " +
					seven + "\n+Subproject commit " + eight + "\n",
			}},
		},
		{
			name: "added", path: "f", after: regular,
			want: []loop.FileChange{{
				Path: "f", Status: loop.FileAdded, NewMode: patch.Regular, NewSize: 6, Insertions: 1,
				Patch: "diff --git a/f b/f\nnew file mode 100644\nindex " + none + ".." + hello + "\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+hello\n",
			}},
		},
		{
			name: "added empty, name with a quote", path: `"f"`, after: side(patch.Executable, ""),
			want: []loop.FileChange{{
				Path: `"f"`, Status: loop.FileAdded, NewMode: patch.Executable,
				Patch: `diff --git "a/\"f\"" "b/\"f\""` + "\nnew file mode 100755\nindex " + none + ".." + empty + "\n",
			}},
		},
		{
			name: "mode only, content not read", path: "f",
			before: patch.Side{Mode: patch.Regular, ID: regular.ID, Size: 6},
			after:  patch.Side{Mode: patch.Executable, ID: regular.ID, Size: 6},
			want: []loop.FileChange{{
				Path: "f", Status: loop.FileModified, OldMode: patch.Regular, NewMode: patch.Executable, OldSize: 6, NewSize: 6,
				Patch: "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n",
			}},
		},
		{
			name: "binary deleted, name with a space", path: "a f", before: side(patch.Regular, "\x00"),
			want: []loop.FileChange{{
				Path: "a f", Status: loop.FileDeleted, OldMode: patch.Regular, OldSize: 1, Binary: true,
				Patch: "diff --git a/a f b/a f\ndeleted file mode 100644\nindex " + nul + ".." + none + "\nBinary files a/a f and /dev/null differ\n",
			}},
		},
		{
			name: "file to symlink", path: "ü f", before: regular, after: side(patch.Symlink, "hello\n"),
			want: []loop.FileChange{
				{
					Path: "ü f", Status: loop.FileDeleted, OldMode: patch.Regular, OldSize: 6, Deletions: 1,
					Patch: `diff --git "a/\303\274 f" "b/\303\274 f"` + "\ndeleted file mode 100644\nindex " + hello + ".." + none +
						"\n" + `--- "a/\303\274 f"` + "\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-hello\n",
				},
				{
					Path: "ü f", Status: loop.FileAdded, NewMode: patch.Symlink, NewSize: 6, Insertions: 1,
					Patch: `diff --git "a/\303\274 f" "b/\303\274 f"` + "\nnew file mode 120000\nindex " + none + ".." + hello +
						"\n--- /dev/null\n" + `+++ "b/\303\274 f"` + "\t\n@@ -0,0 +1 @@\n+hello\n",
				},
			},
		},
		{
			name: "too large", path: "f", before: tooLarge(patch.Regular, 7, 30<<20), after: tooLarge(patch.Regular, 11, 1<<40),
			want: []loop.FileChange{{
				Path: "f", Status: loop.FileModified, OldMode: patch.Regular, NewMode: patch.Regular, OldSize: 30 << 20, NewSize: 1 << 40, Binary: true,
				Patch: "diff --git a/f b/f\nindex " + seven + ".." + eleven + " 100644\nBinary files a/f and b/f differ\n" +
					"# too large to compare: 31457280 bytes before, 1099511627776 bytes after\n",
			}},
		},
		{
			name: "too large, gone", path: "f", before: tooLarge(patch.Regular, 7, 30<<20),
			want: []loop.FileChange{{
				Path: "f", Status: loop.FileDeleted, OldMode: patch.Regular, OldSize: 30 << 20, Binary: true,
				Patch: "diff --git a/f b/f\ndeleted file mode 100644\nindex " + seven + ".." + none + "\nBinary files a/f and /dev/null differ\n" +
					"# too large to compare: 31457280 bytes before\n",
			}},
		},
		{
			name: "too large, executable now", path: "f", before: tooLarge(patch.Regular, 7, 30<<20), after: tooLarge(patch.Executable, 7, 30<<20),
			want: []loop.FileChange{{
				Path: "f", Status: loop.FileModified, OldMode: patch.Regular, NewMode: patch.Executable, OldSize: 30 << 20, NewSize: 30 << 20,
				Patch: "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n",
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := files(t, patch.Pair{Path: c.path, Before: c.before, After: c.after})
			if len(got) != len(c.want) {
				t.Fatalf("%d changes, want %d", len(got), len(c.want))
			}
			for i := range got {
				// Checked by TestApply.
				got[i].BinaryPatch = ""
				if got[i] != c.want[i] {
					t.Errorf("got\n%#v\nwant\n%#v", got[i], c.want[i])
				}
			}
		})
	}
}

// files returns the changes of some paths.
func files(t *testing.T, pairs ...patch.Pair) []loop.FileChange {
	t.Helper()
	all, err := patch.Files(t.Context(), t.TempDir(), pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGit: of trees with odd names and contents, the patches are those of `git diff-tree`. Git can
// apply them to a work tree, and reverse them.
func TestGit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the work trees have names and modes that Windows cannot hold")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		before, after := someTree(r), someTree(r)
		var pairs []patch.Pair
		for _, path := range slices.Sorted(maps.Keys(union(before, after))) {
			pairs = append(pairs, patch.Pair{Path: path, Before: sideOf(before[path]), After: sideOf(after[path])})
		}
		c := loop.Change{Files: files(t, pairs...)}
		dir := t.TempDir()
		git(t, dir, "", "init", "-q")
		var ids []string
		for _, tree := range []commit{before, after} {
			emptyTree(t, dir)
			writeTree(t, dir, tree)
			git(t, dir, "", "add", "-A")
			ids = append(ids, strings.TrimSpace(git(t, dir, "", "write-tree")))
		}
		if want := git(t, dir, "", "diff-tree", "-p", "-r", "--full-index", "--no-renames", ids[0], ids[1]); c.Patch() != want {
			t.Fatalf("round %d:\n%s\nwant\n%s", round, c.Patch(), want)
		}
		git(t, dir, c.ApplicablePatch(), "apply", "--whitespace=nowarn", "-R")
		compareTree(t, dir, before)
		git(t, dir, c.ApplicablePatch(), "apply", "--whitespace=nowarn")
		compareTree(t, dir, after)
	}
}

type file struct {
	mode    uint32
	content string
}

// A commit is the files of a tree, by path.
type commit map[string]file

// someTree returns files at some of the paths that git quotes or marks, and at ordinary ones.
func someTree(r *rand.Rand) commit {
	tree := commit{}
	for _, name := range []string{
		"plain", "with space", " lead", "trail ", "tab\there", "new\nline", "quote\"d", "back\\slash", "ünïcode", "latin1-\xe9",
		"bell\a\b\v\f\r", "-dash", "a/b", "a/c d", "#hash", ":colon", "*star?[x]",
	} {
		content := strings.Repeat("same\n", r.IntN(9)) + strings.Repeat("func f() {\n\treturn\n}\n", r.IntN(5))
		switch r.IntN(9) {
		case 0, 1:
			continue
		case 2:
			tree[name] = file{patch.Symlink, "to" + strconv.Itoa(r.IntN(2))}
			continue
		case 3:
			content += "\x00"
		case 4:
			content += "without an end"
		case 5:
			content = strings.ReplaceAll(content, "\n", "\r\n")
		case 6:
			content += strings.Repeat("long ", 1700) + "\n\x00\n" // git does not look for a NUL that far in
		}
		tree[name] = file{[]uint32{patch.Regular, patch.Executable}[r.IntN(2)], content}
	}
	return tree
}

// TestApplySkipsTooLarge: git ignores the line with the sizes of files that are too
// large.
func TestApplySkipsTooLarge(t *testing.T) {
	t.Parallel()
	c := loop.Change{Files: files(t,
		patch.Pair{Path: "large", Before: tooLarge(patch.Regular, 7, 30<<20), After: tooLarge(patch.Regular, 11, 31<<20)},
		patch.Pair{Path: "small", After: side(patch.Regular, "hello\n")},
	)}
	dir := t.TempDir()
	git(t, dir, c.ApplicablePatch(), "apply", "--exclude=large")
	compareTree(t, dir, commit{"small": {patch.Regular, "hello\n"}})
}

func sideOf(f file) patch.Side {
	if f.mode == patch.Absent {
		return patch.Side{}
	}
	return side(f.mode, f.content)
}

func union(a, b commit) commit {
	u := commit{}
	maps.Copy(u, a)
	maps.Copy(u, b)
	return u
}

func writeTree(t *testing.T, dir string, tree commit) {
	t.Helper()
	for path, f := range tree {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if f.mode == patch.Symlink {
			err = os.Symlink(f.content, name)
		} else {
			err = os.WriteFile(name, []byte(f.content), os.FileMode(f.mode&0o777))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func compareTree(t *testing.T, dir string, want commit) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && entry.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		found++
		path, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		got, err := readFile(name, entry)
		if path = filepath.ToSlash(path); got != want[path] {
			t.Errorf("%q is\n%o %.500q\nwant\n%o %.500q", path, got.mode, got.content, want[path].mode, want[path].content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != len(want) {
		t.Errorf("%d files, want %d", found, len(want))
	}
}

func readFile(name string, entry os.DirEntry) (file, error) {
	if entry.Type()&os.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		return file{patch.Symlink, target}, err
	}
	info, err := entry.Info()
	if err != nil {
		return file{}, err
	}
	content, err := os.ReadFile(name)
	mode := patch.Regular
	if info.Mode()&0o100 != 0 {
		mode = patch.Executable
	}
	return file{mode, string(content)}, err
}

// git runs git with nobody's settings.
func git(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(cmd.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// emptyTree removes everything but the repository.
func emptyTree(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != ".git" && err == nil {
			err = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

package deciding

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// tree is a work tree with some files.
func tree(t *testing.T) Tree {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"check.sh", "my check.sh", "a.sh", "b.sh", "tools/check.sh", "tools/check.py", "checks/one.sh", "checks/two.sh", "words.txt", "Makefile", "sub/my.mk", "sub/Makefile",
	} {
		put(t, root, name, "")
	}
	return Tree{Root: root, Dir: root}
}

// TestFiles: the words of a command line that are files of the tree.
func TestFiles(t *testing.T) {
	t.Parallel()
	in := tree(t)
	for line, want := range map[string][]string{
		"sh check.sh":      {"check.sh"},
		"./check.sh --all": {"check.sh"},
		"bash -eu -o pipefail ./tools/check.sh now":       {"tools/check.sh"},
		"sh -c './a.sh && sh b.sh'":                       {"a.sh", "b.sh"},
		"bash -ec \"sh 'my check.sh'\"":                   {"my check.sh", "check.sh"},
		"cd tools && ./check.sh; ./more.sh":               {"check.sh", "tools/check.sh", "more.sh"},
		"python3 tools/check.py src":                      {"tools/check.py"},
		"python -c 'import greet'":                        nil,
		"X=1 Y='a b' ./check.sh":                          {"check.sh"},
		"env -i X=1 timeout -k 5 60s sh check.sh":         {"check.sh"},
		"if ./check.sh; then true; else ./other.sh; fi":   {"check.sh", "other.sh"},
		". ./lib.sh && greet":                             {"lib.sh"},
		"sh <check.sh":                                    {"check.sh"},
		"cat a.sh b.sh | sh":                              {"a.sh", "b.sh"},
		"sort <words.txt | diff - want.txt":               {"words.txt", "want.txt"},
		"test \"$(sh check.sh)\" = hello":                 nil,
		"X=check.sh; sh $X":                               {"check.sh"},
		"for f in a.sh b.sh; do sh \"$f\"; done":          {"a.sh", "b.sh"},
		"for f in checks/*.sh; do sh $f || exit; done":    {"checks/one.sh", "checks/two.sh"},
		"env -C tools X=1 sh check.sh; sh a.sh":           {"check.sh", "tools/check.sh", "a.sh"},
		"sh check.sh >log 2>&1":                           {"check.sh"},
		"make test":                                       nil,
		"make -C sub -f my.mk test":                       {"my.mk", "sub/my.mk"},
		"make -fsub/my.mk test":                           {"sub/my.mk"},
		"make --file=sub/my.mk test":                      {"sub/my.mk"},
		"node --test":                                     nil,
		"go test ./...":                                   nil,
		"go run ./tools":                                  nil,
		"\"$PWD/tools/check.sh\"":                         {"tools/check.sh"},
		"$(git rev-parse --show-toplevel)/tools/check.sh": {"tools/check.sh"},
		"sh \"$SCRIPT\"":                                  nil,
		"diff <(sh a.sh) words.txt":                       {"a.sh", "words.txt"},
		"sh \"${ROOT:?}/tools/check.sh\"":                 {"tools/check.sh"},
		"eval 'sh check.sh'":                              {"check.sh"},
		"echo hello # ./no.sh":                            nil,
		"sh check.sh; sh ./check.sh":                      {"check.sh"},
		"sh check.sh 'unclosed":                           {"check.sh"},
		"":                                                nil,
	} {
		if got := in.Files(Shell(line)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	in := tree(t)
	for _, x := range []struct{ argv, want []string }{
		{[]string{"tools/check.sh"}, []string{"tools/check.sh"}},
		{[]string{"sh", "tools/check.sh"}, []string{"tools/check.sh"}},
		{[]string{"sh", "-c", "exec tools/check.sh"}, []string{"tools/check.sh"}},
		{[]string{"python3", "tools/check.py", "--config=tools/check.sh", "-v"}, []string{"tools/check.py", "tools/check.sh"}},
		{[]string{"mine", "{prompt}", "--rules", "words.txt"}, []string{"words.txt"}},
	} {
		if got := in.Files(Argv(x.argv)); !slices.Equal(got, x.want) {
			t.Errorf("%q: %q, want %q", x.argv, got, x.want)
		}
	}
}

// Files are relative to the root, and those outside of it are none.
func TestFilesBelow(t *testing.T) {
	t.Parallel()
	in := tree(t)
	in.Dir = filepath.Join(in.Root, "sub")
	words := []string{"my.mk", "../b.sh", "../../c.sh", filepath.ToSlash(filepath.Join(in.Root, "tools", "check.sh")), "/bin/sh", "..", "."}
	want := []string{"sub/my.mk", "b.sh", "tools/check.sh"}
	if got := in.Files(words); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzShell(f *testing.F) {
	for _, line := range []string{"sh -c 'a;b' <x", "cd $(x)/y; ${z}/w", "`a` \"$(b 'c)\" {d,e} # f", "((", "$((1+2))", "sh -c"} {
		f.Add(line)
	}
	in := Tree{Root: f.TempDir()}
	in.Dir = in.Root
	f.Fuzz(func(t *testing.T, line string) {
		for _, file := range in.Files(Shell(line)) {
			if file == "" || file == "." {
				t.Errorf("%q names %q", line, file)
			}
		}
	})
}

// TestLargeDecides: the beginning of a file that is too large to be read counts, whatever its size and its time say.
func TestLargeDecides(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "large", "one")
	path := filepath.Join(dir, "large")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	at := time.Unix(1e9, 0)
	sums := map[string]bool{}
	for _, text := range []string{"one", "two"} {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(text), 0); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(maxContent+1), f.Close(), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		sums[digest(root, "large")] = true
	}
	if len(sums) != 2 {
		t.Error("two contents have one digest")
	}
}

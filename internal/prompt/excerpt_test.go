package prompt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

// modified returns a modified file with one hunk for each size; a hunk has that many lines, all added.
func modified(path string, hunks ...int) loop.FileChange {
	f := loop.FileChange{Path: path, Status: loop.FileModified, OldMode: 0o100644, NewMode: 0o100644, OldSize: 1, NewSize: 2}
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n", path, path, path, path)
	for h, n := range hunks {
		fmt.Fprintf(&b, "@@ -%d,0 +%d,%d @@\n", h*100+1, h*100+1, n)
		for i := range n {
			fmt.Fprintf(&b, "+line %d of hunk %d, with an é\n", i+1, h+1)
		}
		f.Insertions += n
	}
	f.Patch = b.String()
	return f
}

func changed(files ...loop.FileChange) loop.Change {
	c := loop.Change{Files: files}
	for _, f := range files {
		c.Insertions += f.Insertions
		c.Deletions += f.Deletions
	}
	return c
}

func TestOfChange(t *testing.T) {
	t.Parallel()
	small, large := modified("b.go", 2), modified("a.go", 3, 3, 30)
	lock := modified("go.sum", 4)
	logo := loop.FileChange{
		Path: "logo.png", Status: loop.FileAdded, NewMode: 0o100644, NewSize: 345, Binary: true,
		Patch: "diff --git a/logo.png b/logo.png\nBinary files /dev/null and b/logo.png differ\n",
	}
	logoLine := "binary file logo.png added: 0 bytes before, 345 bytes now\n"
	_, hunks, _ := strings.Cut(large.Patch, "@@ ")
	first3, _, _ := strings.Cut("@@ "+hunks, "@@ -101")
	header := strings.TrimSuffix(large.Patch, "@@ "+hunks)

	for name, c := range map[string]struct {
		change      loop.Change
		diff, files int
		want        prompt.Excerpt
	}{
		"nothing": {diff: 100, files: 100},
		"all of it": {
			change: changed(large, small, lock, logo), diff: 1 << 20, files: 1 << 20,
			want: prompt.Excerpt{
				Files: "modified  a.go  (+36 -0)\nmodified  b.go  (+2 -0)\nmodified  go.sum  (+4 -0)\n" +
					"added     logo.png  (binary, 0 bytes before, 345 bytes now)\n",
				Diff: large.Patch + small.Patch + lock.Patch + logoLine,
			},
		},
		"the largest is cut, the lock file left out": {
			change: changed(large, small, lock), files: 1 << 20,
			diff: len(small.Patch) + len(header) + len(first3) + 128 + 5,
			want: prompt.Excerpt{
				Files: "modified  a.go  (+36 -0)  CUT, missing: 2 of 3 hunks, 1052 bytes (35 lines)\nmodified  b.go  (+2 -0)\n" +
					"modified  go.sum  (+4 -0)  NOT SHOWN: 1 of 1 hunk, 191 bytes (8 lines)\n",
				Diff: header + first3 + "[... 2 of 3 hunks, 1052 bytes (35 lines) of this file left out here ...]\n" + small.Patch,
				Cut:  true,
			},
		},
		"the list is cut": {
			change: changed(small, lock, logo), diff: 1 << 20, files: 130,
			want: prompt.Excerpt{
				Files: "modified  b.go  (+2 -0)\n[... and 2 more files (+4 -0), 0 of them cut or not shown ...]\n",
				Diff:  small.Patch + lock.Patch + logoLine,
				Cut:   true,
			},
		},
		"no budget at all": {
			change: changed(small), want: prompt.Excerpt{
				Files: "modified  b.go  (+2 -0)  NOT SHOWN: 1 of 1 hunk, 123 bytes (6 lines)\n", Cut: true,
			},
		},
		"more than lines": {
			change: changed(
				loop.FileChange{Path: "run.sh", Status: loop.FileModified, OldMode: 0o100644, NewMode: 0o100755},
				loop.FileChange{Path: "l", Status: loop.FileAdded, NewMode: 0o120000, Insertions: 1},
				loop.FileChange{Path: "tool", Status: loop.FileAdded, NewMode: 0o100755, NewSize: 9, Binary: true},
			), diff: 1 << 20, files: 1 << 20,
			want: prompt.Excerpt{
				Files: "modified  run.sh  (+0 -0, now executable)\nadded     l  (+1 -0, symlink)\n" +
					"added     tool  (binary, 0 bytes before, 9 bytes now, now executable)\n",
				Diff: "binary file tool added: 0 bytes before, 9 bytes now\n",
			},
		},
		"odd paths and bytes": {
			change: changed(loop.FileChange{Path: "a\nb", Status: loop.FileDeleted, Patch: "x\x00\xff"}), diff: 100, files: 100,
			want: prompt.Excerpt{Files: "deleted   \"a\\nb\"  (+0 -0)\n", Diff: "x\ufffd\ufffd\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := prompt.ExcerptOf(c.change, c.diff, c.files); got != c.want {
				t.Errorf("got  %q\n     %q %t\nwant %q\n     %q %t", got.Files, got.Diff, got.Cut, c.want.Files, c.want.Diff, c.want.Cut)
			}
		})
	}
}

// TestOfChangeIsHonest: for many changes and budgets, the list of files says which files are cut or left out, and
// all others are shown in full.
func TestOfChangeIsHonest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		c := arbitrary(random)
		budget := random.IntN(6000)
		x := prompt.ExcerptOf(c, budget, 1<<20)
		if len(x.Diff) > budget {
			t.Fatalf("%d bytes for a budget of %d", len(x.Diff), budget)
		}
		if !utf8.ValidString(x.Diff) || !utf8.ValidString(x.Files) {
			t.Fatalf("not UTF-8: %q", x.Diff)
		}
		list := strings.SplitAfter(x.Files, "\n")
		rest, cut := x.Diff, false
		for i, f := range c.Files {
			line := list[i]
			if !strings.Contains(line, "  "+f.Path+"  (+") {
				t.Fatalf("%s is not at its place in the list: %q", f.Path, line)
			}
			switch {
			case strings.HasPrefix(rest, f.Patch):
				rest = rest[len(f.Patch):]
				if strings.Contains(line, "CUT") || strings.Contains(line, "NOT SHOWN") {
					t.Fatalf("%s is shown in full but listed as %q", f.Path, line)
				}
			case strings.Contains(line, "  NOT SHOWN: "):
				cut = true
				if strings.HasPrefix(rest, header(f)) {
					t.Fatalf("%s is shown but listed as %q", f.Path, line)
				}
			default:
				cut = true
				rest = cutFile(t, f, line, rest)
			}
		}
		if rest != "" || cut != x.Cut {
			t.Fatalf("cut is %t for %q", x.Cut, x.Diff)
		}
	}
}

func header(f loop.FileChange) string { return "diff --git a/" + f.Path + " " }

// cutFile checks the cut file at the beginning of rest, and returns what follows it.
func cutFile(t *testing.T, f loop.FileChange, line, rest string) string {
	t.Helper()
	_, missing, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  CUT, missing: ")
	note := "[... " + missing + " of this file left out here ...]\n"
	shown, after, found := strings.Cut(rest, note)
	if !ok || !found || !strings.HasPrefix(f.Patch, shown) || !strings.HasSuffix(shown, "\n") {
		t.Fatalf("%s is neither shown in full nor cut between lines: %q\n%q", f.Path, line, rest)
	}
	left := f.Patch[len(shown):]
	want := fmt.Sprintf(", %d bytes (%d lines)", len(left), strings.Count(left, "\n"))
	if !strings.HasSuffix(strings.ReplaceAll(missing, "(1 line)", "(1 lines)"), want) {
		t.Fatalf("%s: want %q at the end of %q", f.Path, want, line)
	}
	return after
}

func arbitrary(random *rand.Rand) loop.Change {
	var files []loop.FileChange
	for i := range 1 + random.IntN(8) {
		name := fmt.Sprintf("dir/file%d.go", i)
		if random.IntN(4) == 0 {
			name = fmt.Sprintf("dir/vendor/file%d.go", i)
		}
		var hunks []int
		for range random.IntN(5) {
			hunks = append(hunks, 1+random.IntN(25))
		}
		files = append(files, modified(name, hunks...))
	}
	return changed(files...)
}

// TestOfChangeOrder: generated files are left out before handwritten ones, even if they are smaller.
func TestOfChangeOrder(t *testing.T) {
	t.Parallel()
	names := []string{
		"a/go.sum", "package-lock.json", "x/yarn.lock", "pnpm-lock.yaml", "Cargo.lock", "web/app.min.js", "api/v1.pb.go",
		"types_generated.ts", "vendor/x/y.go", "web/node_modules/z/i.js", "dist/out.js", "testdata/out.golden", "x/testdata/big.txt",
	}
	for _, name := range names {
		c := changed(modified(name, 1), modified("main.go", 9))
		x := prompt.ExcerptOf(c, len(c.Files[1].Patch), 1<<20)
		if x.Diff != c.Files[1].Patch {
			t.Errorf("%s comes before main.go: %q", name, x.Diff)
		}
	}
	marked := modified("zz.go", 1)
	marked.Patch += "+// Code generated by tool. DO NOT EDIT.\n"
	c := changed(modified("main.go", 9), marked)
	if x := prompt.ExcerptOf(c, len(c.Files[0].Patch), 1<<20); x.Diff != c.Files[0].Patch {
		t.Errorf("marked code comes before main.go: %q", x.Diff)
	}
	for _, name := range []string{"vendors.go", "lock.go", "distance.go", "generated/real.go", "main_test.go"} {
		c := changed(modified(name, 1), modified("zz/go.sum", 1))
		if x := prompt.ExcerptOf(c, len(c.Files[0].Patch), 1<<20); x.Diff != c.Files[0].Patch {
			t.Errorf("%s was taken for a generated file: %q", name, x.Diff)
		}
	}
}

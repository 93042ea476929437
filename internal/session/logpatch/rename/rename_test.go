package rename_test

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff/lines"
	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
	"codeloops/internal/session/logpatch/rename"
)

// A file is a tree's entry at a path.
type file struct {
	mode    uint32
	content string
}

type tree map[string]file

// A repository has trees as branches.
type repository struct {
	t   *testing.T
	dir string
	n   int
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir()}
	r.git(nil, "init", "-q")
	return r
}

func (r *repository) git(stdin []byte, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = r.dir, bytes.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, &stderr)
	}
	return stdout.String()
}

// add writes a tree and returns its name.
func (r *repository) add(files tree) string {
	r.t.Helper()
	r.n++
	name := "tree" + strconv.Itoa(r.n)
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter A <a@example.com> 0 +0000\ndata 0\n", name)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		fmt.Fprintf(&b, "M %o inline %s\ndata %d\n%s\n", f.mode, strconv.Quote(path), len(f.content), f.content)
	}
	r.git(b.Bytes(), "fast-import", "--quiet")
	return name
}

// check compares the renames that are found with those of git.
func (r *repository) check(before, after tree) {
	r.t.Helper()
	want := r.git(nil, "diff-tree", "-p", "-r", "--full-index", "-M", r.add(before), r.add(after))
	change := changeOf(before, after)
	got := rename.Find(change)
	if got.Patch() != want {
		hunks, _, _ := lines.Append(nil, []byte(want), []byte(got.Patch()))
		r.t.Fatalf("from git's text to ours:\n%s", hunks)
	}
	// Only the patches may be known.
	var bare loop.Change
	for _, f := range change.Files {
		bare.Files = append(bare.Files, loop.FileChange{
			Path: f.Path, Status: f.Status, Binary: f.Binary, Patch: cmpOr(f.BinaryPatch, f.Patch),
		})
	}
	if text := rename.Find(bare).Patch(); renames(text) != renames(want) {
		r.t.Fatalf("from patches alone:\n%s\nwant\n%s", renames(text), renames(want))
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// renames returns the lines about renames.
func renames(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "similarity") || strings.HasPrefix(line, "rename") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func changeOf(before, after tree) loop.Change {
	paths := maps.Clone(before)
	maps.Copy(paths, after)
	var c loop.Change
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		c.Files = append(c.Files, patch.File(path, before.side(path), after.side(path))...)
	}
	return c
}

func (t tree) side(path string) patch.Side {
	f, ok := t[path]
	if !ok {
		return patch.Side{}
	}
	id := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(f.content), f.content))
	return patch.Side{Mode: f.mode, ID: id, Content: []byte(f.content)}
}

// countsLastLine reports whether git counts a last line without a line break, as it does since
// 2.44.
func (r *repository) countsLastLine() bool {
	r.t.Helper()
	var major, minor int
	_, err := fmt.Sscanf(r.git(nil, "version"), "git version %d.%d", &major, &minor)
	if err != nil {
		r.t.Fatal(err)
	}
	return major > 2 || minor >= 44
}

// TestRandom compares renames in random trees with git's.
func TestRandom(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	g := generator{whole: !r.countsLastLine()}
	seeds := uint64(300)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		g.Rand = rand.New(rand.NewPCG(seed, 1))
		before := g.tree(1 + g.IntN(12+int(seed)%40))
		after := g.changed(before)
		t.Log("seed", seed)
		r.check(before, after)
	}
}

// A generator makes random trees.
type generator struct {
	*rand.Rand
	whole bool // each file ends in a newline
}

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

func (g *generator) tree(n int) tree {
	files := tree{}
	for range n {
		files[g.path()] = g.file()
	}
	return files
}

func (g *generator) path() string {
	return pick(g, []string{"a/", "b/", "c/sub/", "d x/", ""}) + "f "[:g.IntN(2)+1] +
		pick(g, []string{"1", "2", "3", "\"q\"", "\u00e9", "4.go", "5.txt", "x\ny"})
}

func (g *generator) file() file {
	f := file{mode: pick(g, []uint32{patch.Regular, patch.Regular, patch.Regular, patch.Executable, patch.Symlink}), content: g.content()}
	if f.mode == patch.Symlink {
		f.content = "to" + strconv.Itoa(g.IntN(3))
	}
	return f
}

func (g *generator) content() string {
	var b strings.Builder
	for range g.IntN(40) {
		b.WriteString(g.line())
	}
	text := b.String()
	switch g.IntN(12) {
	case 0:
		return text + "\x00\x01 binary\n"
	case 1:
		return strings.ReplaceAll(text, "\n", "\r\n")
	case 2:
		return ""
	case 3:
		if !g.whole {
			return text + "without an end"
		}
	}
	return text
}

func (g *generator) line() string {
	if g.IntN(10) == 0 {
		return strings.Repeat("long ", 10+g.IntN(30)) + strconv.Itoa(g.IntN(3)) + "\n"
	}
	return fmt.Sprintf("line %d of a file\n", g.IntN(60))
}

// changed moves, removes, edits and adds files.
func (g *generator) changed(before tree) tree {
	after := maps.Clone(before)
	for _, path := range slices.Sorted(maps.Keys(before)) {
		f := before[path]
		switch g.IntN(6) {
		case 0:
			delete(after, path)
		case 1:
			after[path] = g.edited(f)
		case 2, 3:
			delete(after, path)
			for range 1 + g.IntN(2) {
				after[g.path()] = g.edited(f)
			}
		case 4:
			delete(after, path)
			after[pick(g, []string{"a/", "e/", "b/"})+path[strings.LastIndexByte(path, '/')+1:]] = g.edited(f)
		}
	}
	for range g.IntN(3) {
		after[g.path()] = g.file()
	}
	return after
}

func (g *generator) edited(f file) file {
	if f.mode == patch.Symlink {
		return f
	}
	if g.IntN(6) == 0 {
		f.mode = patch.Executable
	}
	rows := slices.Collect(strings.Lines(f.content))
	for range g.IntN(1 + g.IntN(1+len(rows))) {
		at := g.IntN(len(rows))
		switch g.IntN(3) {
		case 0:
			rows = slices.Delete(rows, at, at+1)
			if len(rows) == 0 {
				return f
			}
		case 1:
			rows[at] = g.line()
		default:
			rows = slices.Insert(rows, at, g.line())
		}
	}
	f.content = strings.Join(rows, "")
	return f
}

// TestMany checks the choice among many files with the same content, and that too many pairs are
// not compared.
func TestMany(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	same := func(n int, name string) tree {
		files := tree{}
		for i := range n {
			files[fmt.Sprintf(name, i)] = file{patch.Regular, "the same\n"}
		}
		return files
	}
	r.check(same(300, "a/%d"), same(300, "b/%d"))
	r.check(same(300, "a/%d"), same(200, "b/x%d"))
	numbered := func(n int, name string, more string) tree {
		files := tree{}
		for i := range n {
			files[fmt.Sprintf(name, i)] = file{patch.Regular, strings.Repeat(fmt.Sprintf("line of %d\n", i), 5) + more}
		}
		return files
	}
	for _, n := range []int{40, 1001} {
		r.check(numbered(n, "a/%d", ""), numbered(n, "b/%dx", "more\n"))
	}
	r.check(numbered(1001, "a/%d", ""), numbered(1001, "b/%d", "more\n")) // by name
}

// TestLastLine: git counts a last line without a line break since 2.44.
func TestLastLine(t *testing.T) {
	t.Parallel()
	before := tree{"a": {patch.Regular, "one\ntwo\nlast"}}
	after := tree{"b": {patch.Regular, "one\nTWO\nlast"}}
	if got := renames(rename.Find(changeOf(before, after)).Patch()); got != "similarity index 66%\nrename from a\nrename to b\n" {
		t.Errorf("found %q", got)
	}
}

// TestNotHeld: files with incomplete patches are not compared.
func TestNotHeld(t *testing.T) {
	t.Parallel()
	big := patch.Side{Mode: patch.Regular, ID: [20]byte{1}, Size: 1 << 30, TooLarge: true}
	other := patch.Side{Mode: patch.Regular, ID: [20]byte{2}, Size: 1 << 30, TooLarge: true}
	find := func(after patch.Side) []loop.FileChange {
		c := loop.Change{Files: slices.Concat(patch.File("a", big, patch.Side{}), patch.File("b", patch.Side{}, after))}
		return rename.Find(c).Files
	}
	if got := find(big); len(got) != 1 || got[0].OldPath != "a" || got[0].Path != "b" || got[0].Status != loop.FileRenamed {
		t.Errorf("the same: %+v", got)
	}
	if got := find(other); len(got) != 2 {
		t.Errorf("another: %+v", got)
	}
	broken := func(id byte) patch.Side {
		return patch.Side{Mode: patch.Regular, ID: [20]byte{id}, Content: []byte("one\ntwo\n")}
	}
	for id, want := range map[byte]int{1: 1, 2: 2} {
		c := loop.Change{Files: slices.Concat(patch.File("a", broken(1), patch.Side{}), patch.File("b", patch.Side{}, broken(id)))}
		for i := range c.Files {
			c.Files[i].Patch = strings.Replace(c.Files[i].Patch, "1,2", "1,9", 1)
		}
		if got := rename.Find(c).Files; len(got) != want {
			t.Errorf("with broken patches: %+v", got)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("deleted file mode 100644\nindex 01..00\n@@ -1 +0,0 @@\n-a\n", "new file mode 100644\nindex 00..01\n@@ -0,0 +1 @@\n+a\n")
	f.Add("deleted file mode 100644\n", "index 0..1\nGIT binary patch\nliteral 3\nKcmZQzU|?VX0000k00001\n\nliteral 0\nHcmV?d00001\n\n")
	f.Fuzz(func(t *testing.T, deleted, added string) {
		c := loop.Change{Files: []loop.FileChange{
			{Path: "a", Status: loop.FileDeleted, Patch: deleted, Binary: strings.Contains(deleted, "Binary")},
			{Path: "b", Status: loop.FileAdded, Patch: added, Binary: strings.Contains(added, "Binary")},
		}}
		if n := len(rename.Find(c).Files); n != 1 && n != 2 {
			t.Errorf("%d files", n)
		}
	})
}

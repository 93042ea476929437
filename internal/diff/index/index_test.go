package index

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/diff/repo/file"
)

// sameAsGit compares all entries with those that git lists.
func (r *repository) sameAsGit() *Index {
	r.tb.Helper()
	got, err := r.read()
	if err != nil {
		r.tb.Fatal(err)
	}
	want := r.listed()
	if !slices.Equal(got.Entries, want) {
		r.tb.Fatalf("entries\n got %+v\nwant %+v", got.Entries, want)
	}
	return got
}

// fill puts a variety of entries into the index.
func (r *repository) fill() {
	r.tb.Helper()
	long := strings.Repeat("long/", 900) + "path"
	for _, name := range []string{
		"a", "a-b", "a.c", "dir/x", "dir/y", "dir/sub/z", "dir.c", "odd \"name\"\t", "new\nline", "é",
		".gitignore", ".github/x", "..x", "x..", "git", "exact", "flags", "skipped",
	} {
		r.write(name, "content of "+name)
	}
	if runtime.GOOS == "linux" { // elsewhere, names are UTF-8
		r.write("\xff\xfe", "")
	}
	if err := os.Chmod(filepath.Join(r.dir, "a-b"), 0o755); err != nil {
		r.tb.Fatal(err)
	}
	if err := os.Symlink("a-b", filepath.Join(r.dir, "link")); err != nil {
		r.tb.Fatal(err)
	}
	r.git("", "add", ".")
	r.git("", "update-index", "--assume-unchanged", "flags")
	blob := strings.TrimSpace(r.git("x", "hash-object", "-w", "--stdin"))
	r.git(fmt.Sprintf("160000 %s 0\tmodule\n100644 %s 1\tconflict\n100644 %s 2\tconflict\n100755 %s 3\tconflict\n100644 %s 0\t%s\n",
		blob, blob, blob, blob, blob, long), "update-index", "--index-info")
}

func TestReadLikeGit(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3", "4"} {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.fill()
			if version != "2" {
				r.write("intended", "x")
				r.git("", "add", "-N", "intended")
				r.git("", "update-index", "--skip-worktree", "skipped")
			}
			if version == "4" {
				r.git("", "update-index", "--index-version", "4")
			}
			got := r.sameAsGit()
			if strconv.Itoa(int(got.Version)) != version {
				t.Errorf("version %d, want %s", got.Version, version)
			}
			_, stamp, err := file.Read(r.path(), file.How{Max: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if got.Stamp != stamp || got.Trailer == (ID{}) {
				t.Errorf("stamp %+v, want %+v; trailer %x", got.Stamp, stamp, got.Trailer)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	got, err := r.read()
	if err != nil || !reflect.DeepEqual(got, &Index{}) {
		t.Errorf("Read = %+v, %v; want an empty index", got, err)
	}
}

func TestTrees(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	for _, name := range []string{"a", "d/x", "d/e/y", "d/e/z", "d/f/y", "g/h/i/j"} {
		r.write(name, name)
	}
	r.git("", "add", ".")
	r.git("", "commit", "-q", "-m", "m")
	check := func(dirs ...string) {
		t.Helper()
		got, err := r.read()
		if err != nil {
			t.Fatal(err)
		}
		var want []Tree
		for _, dir := range dirs {
			id := strings.TrimSpace(r.git("", "rev-parse", "HEAD:"+dir))
			tree := Tree{Path: dir, Entries: strings.Count(r.git("", "ls-tree", "-r", id), "\n")}
			if _, err := fmt.Sscanf(id, "%x", (*hexID)(&tree.ID)); err != nil {
				t.Fatal(err)
			}
			want = append(want, tree)
		}
		if !slices.Equal(got.Trees, want) {
			t.Errorf("trees\n got %+v\nwant %+v", got.Trees, want)
		}
	}
	check("", "d", "d/e", "d/f", "g", "g/h", "g/h/i")
	r.write("d/e/y", "changed")
	r.git("", "update-index", "d/e/y")
	check("d/f", "g", "g/h", "g/h/i")
}

// A hexID scans an ID in hex.
type hexID ID

func (id *hexID) Scan(state fmt.ScanState, _ rune) error {
	var data []byte
	if _, err := fmt.Fscanf(state, "%x", &data); err != nil {
		return err
	}
	copy(id[:], data)
	return nil
}

// Random changes to a split index, so that it holds updated, deleted and new
// entries, compared with git after each.
func TestSplitLikeGit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			r := newRepository(t)
			r.git("", "config", "splitIndex.maxPercentChange", "100")
			if seed%2 == 1 {
				r.git("", "config", "index.version", "4")
			}
			for i := range 300 {
				r.write(fmt.Sprintf("d%d/f%d", i%7, i), "x")
			}
			r.git("", "add", ".")
			r.git("", "update-index", "--split-index")
			splits := 0
			for range 12 {
				for range 1 + rng.IntN(20) {
					name := fmt.Sprintf("d%d/f%d", rng.IntN(7), rng.IntN(320))
					if rng.IntN(3) == 0 {
						if err := os.RemoveAll(filepath.Join(r.dir, name)); err != nil {
							t.Fatal(err)
						}
					} else {
						r.write(name, strconv.Itoa(rng.IntN(100)))
					}
				}
				r.git("", "add", "-A")
				r.sameAsGit()
				data, err := os.ReadFile(r.path())
				if err != nil {
					t.Fatal(err)
				}
				if d, err := decode(data); err == nil && d.link != nil {
					splits++
				}
			}
			if splits < 10 {
				t.Errorf("the index was split %d times only", splits)
			}
		})
	}
}

// TestSplitTwice: an entry that both halves have, though nothing says that one
// takes the place of the other, is that of the split index.
func TestSplitTwice(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.git("", "config", "splitIndex.maxPercentChange", "100")
	long := time.Unix(1_000_000_000, 0) // ago, so that git need not mark the entries
	for _, name := range []string{"a", "b", "d"} {
		r.write(name, "shared")
		if err := os.Chtimes(filepath.Join(r.dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	r.git("", "add", ".")
	r.git("", "update-index", "--split-index")
	r.write("c", "split")
	r.git("", "add", "c")
	data, err := os.ReadFile(r.path())
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode(data)
	if err != nil || d.link == nil || len(d.entries) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	const nameAt = headerSize + fixedSize
	data[nameAt] = 'b'
	end := len(data) - hashSize
	sum := sha1.Sum(data[:end])
	if err := os.WriteFile(r.path(), append(data[:end], sum[:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	x := r.sameAsGit()
	if got := x.Entries[1]; got.Path != "b" || got.Size != uint32(len("split")) {
		t.Errorf("%+v", got)
	}
}

func TestSplitWithoutShared(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("a", "x")
	r.git("", "add", ".")
	r.git("", "update-index", "--split-index")
	shared, err := filepath.Glob(filepath.Join(r.dir, ".git", "sharedindex.*"))
	if err != nil || len(shared) != 1 {
		t.Fatalf("shared indexes %q, %v", shared, err)
	}
	if err := os.Remove(shared[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := r.read(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Read = %+v, %v; want an error", got, err)
	}
}

func TestSparse(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	for _, name := range []string{"a", "in/x", "out/x", "out/deep/y"} {
		r.write(name, name)
	}
	r.git("", "add", ".")
	r.git("", "commit", "-q", "-m", "m")
	r.git("", "sparse-checkout", "set", "--cone", "--no-sparse-index", "in")
	r.sameAsGit()
	r.git("", "sparse-checkout", "set", "--cone", "--sparse-index", "in")
	if got, err := r.read(); !errors.Is(err, ErrSparse) {
		t.Errorf("Read = %+v, %v; want %v", got, err, ErrSparse)
	}
}

func TestSkipHash(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("a", "x")
	r.git("", "add", ".")
	data, err := os.ReadFile(r.path())
	if err != nil {
		t.Fatal(err)
	}
	clear(data[len(data)-hashSize:])
	if err := os.WriteFile(r.path(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.sameAsGit(); got.Trailer != (ID{}) {
		t.Errorf("trailer %x", got.Trailer)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	entry := func(path string) []byte {
		e := make([]byte, fixedSize, fixedSize+len(path)+8)
		e[61] = byte(len(path))
		e = append(e, path...)
		return append(e, make([]byte, (len(e)+8)&^7-len(e))...)
	}
	build := func(count byte, parts ...[]byte) []byte {
		data := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00"), count)
		data = append(data, bytes.Join(parts, nil)...)
		return append(data, make([]byte, hashSize)...)
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"fine":               {build(2, entry("a"), entry("b")), nil},
		"optional extension": {build(1, entry("a"), []byte("ZZZZ\x00\x00\x00\x01x")), nil},
		"required extension": {build(1, entry("a"), []byte("zzzz\x00\x00\x00\x01x")), ErrExtension},
		"sparse":             {build(1, entry("a"), []byte("sdir\x00\x00\x00\x00")), ErrSparse},
		"empty":              {nil, ErrCorrupt},
		"other file":         {bytes.Repeat([]byte("x"), 100), ErrCorrupt},
		"version 1":          {[]byte("DIRC\x00\x00\x00\x01" + strings.Repeat("\x00", 30)), ErrCorrupt},
		"too many":           {build(200, entry("a")), ErrCorrupt},
		"out of order":       {build(2, entry("b"), entry("a")), ErrCorrupt},
		"twice":              {build(2, entry("a"), entry("a")), ErrCorrupt},
		"parent":             {build(1, entry("../a")), ErrCorrupt},
		"inner parent":       {build(1, entry("a/../../b")), ErrCorrupt},
		"absolute":           {build(1, entry("/etc/passwd")), ErrCorrupt},
		"repository":         {build(1, entry(".git/config")), ErrCorrupt},
		"inner repository":   {build(1, entry("a/.GIT/config")), ErrCorrupt},
		"directory":          {build(1, entry("a/")), ErrCorrupt},
		"no name":            {build(1, entry("")), ErrCorrupt},
		"long extension":     {build(1, entry("a"), []byte("ZZZZ\x00\x00\x01\x01x")), ErrCorrupt},
		"short extension":    {build(1, entry("a"), []byte("ZZ")), ErrCorrupt},
	} {
		if _, err := decode(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Every cut of a real index is an error, never a panic.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "4"} {
		r := newRepository(t)
		r.fill()
		r.git("", "update-index", "--index-version", version)
		data, err := os.ReadFile(r.path())
		if err != nil {
			t.Fatal(err)
		}
		whole, err := decode(data)
		if err != nil {
			t.Fatal(err)
		}
		for n := range data {
			// A cut right behind the entries or an extension leaves a sound file.
			d, err := decode(data[:n])
			sameInPieces(t, data[:n], d, err)
			if err == nil && !reflect.DeepEqual(d.entries, whole.entries) {
				t.Fatalf("version %s cut at %d of %d: no error", version, n, len(data))
			}
		}
	}
}

func TestRacy(t *testing.T) {
	t.Parallel()
	x := &Index{Stamp: file.Stamp{Mtime: 100e9 + 500}}
	for at, want := range map[Time]bool{
		{99, 999}: false, {100, 499}: false, {100, 500}: true, {100, 501}: true, {101, 0}: true, {100, 0}: true, {99, 0}: false,
	} {
		if got := x.Racy(&Entry{Mtime: at}); got != want {
			t.Errorf("Racy(%v) = %v, want %v", at, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, split := range []bool{false, true} {
		for _, version := range []string{"2", "4"} {
			r := newRepository(f)
			for _, name := range []string{"a", "b/c", "b/d/e"} {
				r.write(name, name)
			}
			r.git("", "add", ".")
			r.git("", "commit", "-q", "-m", "m")
			r.git("", "update-index", "--index-version", version)
			if split {
				r.git("", "update-index", "--split-index")
				r.write("b/c", "changed")
				r.git("", "add", ".")
			}
			data, err := os.ReadFile(r.path())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := decode(data)
		sameInPieces(t, data, d, err)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrSparse) && !errors.Is(err, ErrExtension) {
				t.Errorf("unknown error %v", err)
			}
			return
		}
		if d.link == nil {
			if !slices.IsSortedFunc(d.entries, func(a, b Entry) int { return a.compare(&b) }) {
				t.Error("entries out of order")
			}
			return
		}
		merged, err := d.link.merge([]Entry{{Path: "a"}, {Path: "b"}, {Path: "c"}}, d.entries)
		if err == nil && len(merged) > len(d.entries)+3 {
			t.Errorf("%d entries of %d", len(merged), len(d.entries))
		}
	})
}

// sameInPieces fails unless an index is the same whether decoded as a whole or
// read in pieces that no entry fits in.
func sameInPieces(t *testing.T, data []byte, whole *decoder, wholeErr error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := reader{file: f, end: int64(len(data)) - hashSize, buffer: make([]byte, 50)}
	var entries []Entry
	x := &Index{}
	err = r.each(x, func(_ *Index, e *Entry) {
		kept := *e
		kept.Path = strings.Clone(e.Path)
		entries = append(entries, kept)
	})
	switch {
	case errors.Is(err, ErrSplit):
		if wholeErr == nil && whole.link == nil {
			t.Error("it is not split")
		}
	case wholeErr == nil && whole.link != nil:
		// What is here is but a part, which may be in any order, and is not to be
		// taken for all.
		if err == nil {
			t.Error("it is split")
		}
	case (err == nil) != (wholeErr == nil):
		// Only the whole is looked at for a cache tree.
		if !errors.Is(wholeErr, ErrCorrupt) || err != nil {
			t.Errorf("%v in pieces, %v as a whole", err, wholeErr)
		}
	case err == nil && (!slices.Equal(entries, whole.entries) || x.Trailer != whole.trailer):
		t.Errorf("%v in pieces, %v as a whole", entries, whole.entries)
	}
}

func BenchmarkRead(b *testing.B) {
	r := newRepository(b)
	blob := strings.TrimSpace(r.git("x", "hash-object", "-w", "--stdin"))
	var list strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&list, "100644 %s 0\tsome/dir%d/another%d/a_file_name_%d.go\n", blob, i%100, i%1000, i)
	}
	r.git(list.String(), "update-index", "--index-info")
	for b.Loop() {
		if _, err := r.read(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
}

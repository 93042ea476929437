package index

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/file"
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

// fill adds a variety of entries to the index.
func (r *repository) fill() {
	r.tb.Helper()
	long := strings.Repeat("long/", 900) + "path"
	for _, name := range []string{
		"a", "a-b", "a.c", "dir/x", "dir/y", "dir/sub/z", "dir.c", "odd \"name\"\t", "new\nline", "é",
		".gitignore", ".github/x", "..x", "x..", "git", "exact", "flags", "skipped",
	} {
		r.write(name, "content of "+name)
	}
	if runtime.GOOS == "linux" { // elsewhere, names must be UTF-8
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
			_, stamp, err := file.Read(r.path(), file.Options{Max: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if got.Stamp != stamp || got.Trailer == (plumbing.Hash{}) {
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

// TestSplit: a split index is an error, so that git reads it instead.
func TestSplit(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("a", "x")
	r.git("", "add", ".")
	r.git("", "update-index", "--split-index")
	if got, err := r.read(); !errors.Is(err, ErrExtension) {
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
	if got, err := r.read(); !errors.Is(err, ErrExtension) {
		t.Errorf("Read = %+v, %v; want %v", got, err, ErrExtension)
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
	if got := r.sameAsGit(); got.Trailer != (plumbing.Hash{}) {
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
		"sparse":             {build(1, entry("a"), []byte("sdir\x00\x00\x00\x00")), ErrExtension},
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

// A truncated index is an error and never causes a panic.
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
			// A cut right after the entries or an extension leaves a valid file.
			d, err := decode(data[:n])
			if err == nil && !reflect.DeepEqual(d.Entries, whole.Entries) {
				t.Fatalf("version %s cut at %d of %d: no error", version, n, len(data))
			}
		}
	}
}

func TestRacy(t *testing.T) {
	t.Parallel()
	x := &Index{Stamp: file.Stamp{Mtime: 100e9 + 500}}
	for at, want := range map[int64]bool{
		99e9 + 999: false, 100e9 + 499: false, 100e9 + 500: true, 100e9 + 501: true, 101e9: true, 100e9: true, 99e9: false,
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
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrExtension) {
				t.Errorf("unknown error %v", err)
			}
			return
		}
		if !slices.IsSortedFunc(d.Entries, func(a, b Entry) int { return a.compare(&b) }) {
			t.Error("entries out of order")
		}
	})
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

// TestMark: a mark recognizes an unchanged index file, and no other file.
func TestMark(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	mark := func() Mark {
		t.Helper()
		_, m, err := ReadNew(path, Mark{})
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if x, again, err := ReadNew(path, m); x != nil || again != m || err != nil {
			t.Errorf("an unchanged file: %+v, %v", x, err)
		}
		return m
	}
	at := time.Unix(1_600_000_000, 0)
	write := func(text string) Mark {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return mark()
	}
	none := mark()
	one := write("one")
	if again := mark(); again != one {
		t.Error("an unchanged file has another mark")
	}
	if none == one || none == (Mark{}) || write("two") == one || write("") == none {
		t.Error("different files have the same mark")
	}
}

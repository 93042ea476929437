package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

func (s Saved) reread(t *testing.T) Saved {
	t.Helper()
	data := s.Append(nil)
	got, err := ReadSaved(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// many returns a state of so many files that they are in several pieces.
func many(t *testing.T) *Dir {
	t.Helper()
	var names []string
	for i := range 40 {
		for j := range 50 {
			names = append(names, fmt.Sprintf("dir%02d/e/file%02d", i, j))
		}
	}
	return state(t, names...)
}

// TestSaved: what was saved comes back.
func TestSaved(t *testing.T) {
	t.Parallel()
	tracked := state(t, "a", "b/c", "b/d/e", "f/g", "f/h")
	now := state(t, "a", "b/c=other", "b/d/e", "f/g", "i/j")
	now.Dirs[0].listing = listing{stat: Stat{Size: 1, Modified: -2, Changed: 3, Inode: 1 << 63}, hasGit: true, hasIgnore: true, others: "x/y/"}
	now.Dirs[1].listing = listing{stat: Stat{Size: 2}, hasAttributes: true}
	bare := &Dir{Dirs: []*Dir{{Name: "d"}}}
	bare.Seal()
	for _, index := range []*Dir{nil, tracked, many(t)} {
		for _, d := range []*Dir{now, tracked, bare, many(t)} {
			got := Saved{Index: index, State: d}.reread(t)
			if !alikeDirs(got.State, d) || index == nil != (got.Index == nil) || index != nil && !alikeDirs(got.Index, index) {
				t.Errorf("%v and %v come back as %v and %v", index, d, got.Index, got.State)
			}
		}
	}
}

// TestSavedRecords: files come back whatever is known of them, in records as short as
// can be.
func TestSavedRecords(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000_000_000_000
	plain := Stat{Size: 5, Modified: now, Changed: now, Inode: 70_000}
	for name, c := range map[string]struct {
		change func(*File)
		short  bool
	}{
		"nothing":        {func(*File) {}, true},
		"later":          {func(f *File) { f.stat.Modified, f.stat.Changed = now+math.MaxUint32, now+math.MaxUint32 }, true},
		"much later":     {func(f *File) { f.stat.Modified, f.stat.Changed = now+math.MaxUint32+1, now+math.MaxUint32+1 }, false},
		"earlier":        {func(f *File) { f.stat.Modified = now - 1 }, true},
		"long ago":       {func(f *File) { f.stat.Modified = math.MinInt64 }, false},
		"in the end":     {func(f *File) { f.stat.Modified, f.stat.Changed = math.MaxInt64, math.MaxInt64 }, false},
		"changed later":  {func(f *File) { f.stat.Changed += math.MaxUint32 }, true},
		"changed before": {func(f *File) { f.stat.Changed-- }, false},
		"next inode":     {func(f *File) { f.stat.Inode += math.MaxUint32 }, true},
		"far inode":      {func(f *File) { f.stat.Inode += math.MaxUint32 + 1 }, false},
		"last inode":     {func(f *File) { f.stat.Inode = math.MaxUint64 }, false},
		"4 GiB less one": {func(f *File) { f.stat.Size = math.MaxUint32 }, true},
		"4 GiB":          {func(f *File) { f.stat.Size = math.MaxUint32 + 1 }, false},
		"size below 0":   {func(f *File) { f.stat.Size = -1 }, false},
		"nothing known":  {func(f *File) { f.stat = Stat{} }, false},
		"name":           {func(f *File) { f.Name = strings.Repeat("n", math.MaxUint8) }, true},
		"long name":      {func(f *File) { f.Name = strings.Repeat("n", math.MaxUint8+1) }, false},
		"very long name": {func(f *File) { f.Name = strings.Repeat("n", 1<<17) }, false},
		"symlink":        {func(f *File) { f.Mode, f.trust = Symlink, doubtful }, true},
		"gitlink":        {func(f *File) { f.Mode, f.trust = Gitlink, fromIndex }, true},
	} {
		for at := range 3 {
			files := []File{
				{Name: "a", Mode: Regular, ID: plumbing.Hash{1}, stat: plain, trust: exact},
				{Name: "m", Mode: Executable, ID: plumbing.Hash{2}, stat: plain, trust: exact},
				{Name: "z", Mode: Regular, ID: plumbing.Hash{3}, stat: plain, trust: exact},
			}
			c.change(&files[at])
			slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
			d := NewDir("", files, []*Dir{NewDir("d", slices.Clone(files), nil)})
			d.Seal()
			got := Saved{Index: d, State: d}.reread(t)
			for _, d := range []*Dir{got.Index, got.Index.Dirs[0]} {
				if !slices.Equal(d.Files(), files) {
					t.Errorf("%s: %+v comes back as %+v", name, files, d.Files())
				}
				if d.files.saved.short != c.short {
					t.Errorf("%s: short %t", name, !c.short)
				}
			}
		}
	}
}

// alikeDirs reports whether all is the same, but for the listings where a has
// none and for what Saved makes doubtful.
func alikeDirs(a, b *Dir) bool {
	if a.Name != b.Name || a.id != b.id || a.empty != b.empty || !a.sealed || len(a.Files()) != len(b.Files()) || len(a.Dirs) != len(b.Dirs) {
		return false
	}
	if b.listing != (listing{}) && a.listing != b.listing {
		return false
	}
	for i, f := range a.Files() {
		if f.trust == doubtful {
			f.trust = b.Files()[i].trust
		}
		if f != b.Files()[i] {
			return false
		}
	}
	for i := range a.Dirs {
		if !alikeDirs(a.Dirs[i], b.Dirs[i]) {
			return false
		}
	}
	return true
}

// TestSavedShared: what is the same in the index and in the state is so in
// memory, too, and is known as well as the state knows it.
func TestSavedShared(t *testing.T) {
	t.Parallel()
	index, now := state(t, "a", "b/c", "d/e", "d/f"), state(t, "a", "b/c", "d/e", "d/f")
	for _, d := range []*Dir{index, index.Dirs[0], index.Dirs[1]} {
		for i := range d.Files() {
			d.Files()[i].trust, d.Files()[i].stat = fromIndex, Stat{Size: 5, Modified: 1, Changed: 2, Inode: 7}
		}
	}
	for _, d := range []*Dir{now, now.Dirs[0], now.Dirs[1]} {
		d.listing.stat = Stat{Modified: 9}
		for i := range d.Files() {
			d.Files()[i].trust, d.Files()[i].stat = exact, Stat{Size: 5, Modified: 1, Changed: 2, Inode: 1<<40 | 7}
		}
	}
	got := Saved{Index: index, State: now}.reread(t)
	if got.State != got.Index || got.State.Dirs[0].listing != now.Dirs[0].listing || !reflect.DeepEqual(got.State.Dirs[0].Files(), now.Dirs[0].Files()) {
		t.Errorf("%+v and %+v", got.Index, got.State)
	}
	index.Dirs[1].Files()[1].trust = doubtful // racy in the index
	got = Saved{Index: index, State: now}.reread(t)
	switch {
	case got.State == got.Index, got.State.Dirs[1] == got.Index.Dirs[1], got.State.Dirs[0] != got.Index.Dirs[0]:
		t.Errorf("%+v and %+v", got.Index, got.State)
	case got.Index.Dirs[1].Files()[1].trust != doubtful, got.Index.Dirs[1].Files()[0].stat.Inode != 7:
		t.Errorf("in the index %+v", got.Index.Dirs[1].Files())
	case got.State.Dirs[1].Files()[1] != now.Dirs[1].Files()[1]:
		t.Errorf("in the state %+v", got.State.Dirs[1].Files())
	}
}

// TestSavedStays: files in saved form stay in it as long as they are what they
// were, which is what makes a scan by them fast. Where one is not, what is beside
// it stays as it is.
func TestSavedStays(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"a", "d/b", "d/c", "e/f/g", "e/h"} {
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	scan := func(k Known) *Dir {
		s, err := scannerOf(root, time.Now().Add(time.Minute)).Scan(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		return s.Root
	}
	first := scan(Known{})
	stays := clockOf(root).dirs // else each directory is listed each time
	known := Saved{Index: first, State: first}.reread(t)
	k := Known{Index: known.Index, Last: known.State, Listed: true, Foreign: true}
	if again := scan(k); again != known.State || stays && len(needed(again, "/")) > 0 {
		t.Errorf("nothing has changed, and the files of %q were needed", needed(again, "/"))
	}
	if err := os.WriteFile(filepath.Join(root, "d", "c"), []byte("c"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := scan(k)
	if got := strings.Join(needed(known.State, "/"), " "); stays && got != "/ /d/" { // for their tree objects
		t.Errorf("the files of %q were needed", got)
	}
	want := scan(Known{})
	if again.Dirs[1] != known.State.Dirs[1] || again.ID() != want.ID() || again.ID() == first.ID() {
		t.Errorf("after a change %+v, want %+v", again, want)
	}
}

// needed returns the directories of which the files were not left in saved form.
func needed(d *Dir, path string) (dirs []string) {
	if d.files.saved != nil && d.files.saved.list.Load() != nil {
		dirs = append(dirs, path)
	}
	for _, child := range d.Dirs {
		dirs = append(dirs, needed(child, path+child.Name+"/")...)
	}
	return dirs
}

// TestSavedTrust: what differs from the index is to be read again.
func TestSavedTrust(t *testing.T) {
	t.Parallel()
	tracked, now := state(t, "a", "b"), state(t, "a", "b=other", "c")
	for i := range now.Files() {
		now.Files()[i].trust = exact
	}
	var trusts []trust
	for _, f := range (Saved{Index: tracked, State: now}).reread(t).State.Files() {
		trusts = append(trusts, f.trust)
	}
	if want := []trust{exact, doubtful, doubtful}; !reflect.DeepEqual(trusts, want) {
		t.Errorf("trust %v, want %v", trusts, want)
	}
}

// TestSavedOrder: directories that are below each other, or below none, are no
// tree.
func TestSavedOrder(t *testing.T) {
	t.Parallel()
	x := savedIndex{dirs: make([]Dir, 4)}
	for i, name := range []string{"", "a", "b", "c"} {
		x.dirs[i] = *NewDir(name, make([]File, 1), nil)
	}
	for _, c := range []struct {
		below []int
		want  bool
	}{
		{[]int{3, 0, 0, 0}, true},
		{[]int{1, 1, 1, 0}, true},
		{[]int{2, 0, 0, 0}, false},
		{[]int{2, 0, 0, 1}, false},
		{[]int{0, 0, 0, 3}, false},
		{[]int{4, 0, 0, 0}, false},
	} {
		if x.below = c.below; x.link() != c.want {
			t.Errorf("%v: %v", c.below, !c.want)
		}
	}
}

// mend makes the sum of forged data right.
func mend(data []byte) []byte {
	data = bytes.Clone(data)
	if len(data) > 4 {
		binary.LittleEndian.PutUint32(data, crc32.ChecksumIEEE(data[4:]))
	}
	return data
}

func FuzzSaved(f *testing.F) {
	b, d := NewDir("b", []File{{Name: "c", Mode: Gitlink}}, nil), NewDir("d", []File{{Name: "e", Mode: Executable}}, nil)
	b.listing.hasIgnore = true
	index := NewDir("", []File{{Name: "a", Mode: Regular, trust: fromIndex}, {Name: "l", Mode: Symlink}}, []*Dir{b, d})
	index.Seal()
	n := NewDir("new", index.Files(), nil)
	n.listing.others = "x/"
	now := NewDir("", index.Files()[:1], []*Dir{b, n})
	now.Seal()
	f.Add([]byte{})
	short := Stat{Size: 1, Modified: 2, Changed: 3, Inode: 4}
	both := NewDir("", []File{{Name: "a", Mode: Regular, stat: short}, {Name: "b", Mode: Symlink, stat: short}},
		[]*Dir{NewDir("d", []File{{Name: "c", Mode: Regular, stat: Stat{Size: -1}}}, nil)})
	both.Seal()
	for _, s := range []Saved{{index, index}, {index, now}, {nil, now}, {now, &Dir{}}, {both, both}, {both, now}} {
		f.Add(s.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = mend(data)
		s, err := ReadSaved(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, d := range []*Dir{s.Index, s.State} {
			checkSound(t, d)
		}
		again := s.Append(nil)
		s, err = ReadSaved(bytes.NewReader(again), int64(len(again)))
		if err != nil || !bytes.Equal(s.Append(nil), again) {
			t.Errorf("%q comes back as %v, %v", data, s, err)
		}
	})
}

// checkSound checks that a work tree can have what is in a directory.
func checkSound(t *testing.T, d *Dir) {
	t.Helper()
	for i := range d.Files() {
		if f := &d.Files()[i]; !f.sound() || f.trust > fromIndex || i > 0 && d.Files()[i-1].Name >= f.Name {
			t.Errorf("%+v", f)
		}
	}
	for i, child := range d.dirs() {
		f := File{Name: child.Name, Mode: Regular}
		if !f.sound() || i > 0 && order(d.Dirs[i-1].Name, true, child.Name, true) >= 0 {
			t.Errorf("directory %q", child.Name)
		}
		checkSound(t, child)
	}
}

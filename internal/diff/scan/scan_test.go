package scan

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/index"
	"codeloops/internal/diff/store"
	"codeloops/internal/file"
)

// state builds a directory from paths, each with the ID of its own text.
func state(t *testing.T, paths ...string) *Dir {
	t.Helper()
	slices.Sort(paths)
	x := &index.Index{}
	for _, path := range paths {
		path, text, found := strings.Cut(path, "=")
		if !found {
			text = path
		}
		x.Entries = append(x.Entries, index.Entry{
			Path: path, Mode: Regular, ID: store.Sum(plumbing.BlobObject, []byte(text)),
		})
	}
	d := Tracked(x)
	if d == nil {
		d = &Dir{}
	}
	d.Seal()
	return d
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after []string
		want          string
	}{
		{nil, nil, ""},
		{[]string{"a", "b/c"}, []string{"a", "b/c"}, ""},
		{nil, []string{"a", "b/c"}, "+a +b/c"},
		{[]string{"a", "b/c"}, nil, "-a -b/c"},
		{[]string{"a", "b/c"}, []string{"a=x", "b/c=x"}, "*a *b/c"},
		{[]string{"a", "a.b", "a/c"}, []string{"a.b=x"}, "-a *a.b -a/c"},
		{[]string{"a"}, []string{"a/b", "a.b"}, "-a +a.b +a/b"},
		{[]string{"a/x", "a-b/x", "a0/x"}, []string{"a/x=1", "a-b/x=1", "a0/x=1"}, "*a-b/x *a/x *a0/x"},
		{[]string{"d/e/f", "d/e/g"}, []string{"d/e/g", "d/h"}, "-d/e/f +d/h"},
	} {
		var got []string
		for _, c := range Compare(state(t, test.before...), state(t, test.after...)) {
			switch {
			case c.Before == nil:
				got = append(got, "+"+c.Path)
			case c.After == nil:
				got = append(got, "-"+c.Path)
			default:
				got = append(got, "*"+c.Path)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("from %q to %q: %q, want %q", test.before, test.after, got, test.want)
		}
	}
}

// TestPut: adding or removing a file returns a new directory and leaves the old one
// unchanged.
func TestPut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before    []string
		gone, put string // "" for none
		want      []string
		refused   bool
	}{
		{nil, "", "a", []string{"a"}, false},
		{nil, "", "a/b/c", []string{"a/b/c"}, false},
		{[]string{"a", "b/c"}, "a", "", []string{"b/c"}, false},
		{[]string{"a", "b/c", "b/d"}, "b/c", "", []string{"a", "b/d"}, false},
		{[]string{"a", "b/c/d"}, "b/c/d", "b", []string{"a", "b"}, false},
		{[]string{"a", "b"}, "b", "b/c", []string{"a", "b/c"}, false},
		{[]string{"a=x", "b"}, "", "a", []string{"a", "b"}, false},
		{[]string{"a", "a-b/c", "a/c"}, "missing/x", "a.b", []string{"a", "a-b/c", "a.b", "a/c"}, false},
		{[]string{"a/b"}, "", "a", nil, true},
		{[]string{"a"}, "", "a/b", nil, true},
		{[]string{"a"}, "a/b", "", []string{"a"}, false},
	} {
		before := state(t, test.before...)
		id := before.ID()
		got, ok := before.Without(test.gone), true
		if test.put != "" {
			placed, _ := Place(test.put, Regular, store.Sum(plumbing.BlobObject, []byte(test.put)), 1)
			got, ok = got.Put(placed)
		}
		if ok == test.refused {
			t.Errorf("%+v: ok is %v", test, ok)
		}
		if got.Seal(); ok && got.ID() != state(t, test.want...).ID() {
			t.Errorf("%+v: %s", test, got.Object())
		}
		before.sealed = false
		before.Seal()
		if before.ID() != id {
			t.Errorf("%+v: the state before has changed", test)
		}
	}
}

// TestFind: a path finds a file or a directory only by its exact name.
func TestFind(t *testing.T) {
	t.Parallel()
	d := state(t, "a", "a.b/c", "a/b", "d/e/f")
	for _, path := range []string{"a", "a.b/c", "a/b", "d/e/f"} {
		if f := d.Find(path); f == nil || !strings.HasSuffix(path, f.Name) {
			t.Errorf("%s: %v", path, f)
		}
	}
	for _, path := range []string{"", "b", "a/c", "d", "d/e", "d/e/f/g", "x/y"} {
		if f := d.Find(path); f != nil {
			t.Errorf("%s: %v", path, f)
		}
	}
	if d.Dir("d/e") == nil || d.Dir("a.b") == nil || d.Dir("d/f") != nil || (*Dir)(nil).Find("a") != nil {
		t.Error("the wrong directories are found")
	}
}

// TestTracked: an index entry saves reading a file only if git itself would trust it.
func TestTracked(t *testing.T) {
	t.Parallel()
	at := func(sec int64) int64 { return sec*int64(time.Second) + 5 }
	content := store.Sum(plumbing.BlobObject, []byte("content"))
	empty := store.Sum(plumbing.BlobObject, nil)
	sound := index.Entry{Mode: Regular, ID: content, Size: 7, Mtime: at(100), Ctime: at(101), Ino: 3}
	with := func(path string, change func(*index.Entry)) index.Entry {
		e := sound
		e.Path = path
		change(&e)
		return e
	}
	d := Tracked(&index.Index{
		Stamp: file.Stamp{Mtime: 200 * int64(time.Second)},
		Entries: []index.Entry{
			with("conflict", func(e *index.Entry) { e.Stage = 1 }),
			with("conflict", func(e *index.Entry) { e.Stage = 2 }),
			with("empty", func(e *index.Entry) { e.Size, e.ID = 0, empty }),
			with("intended", func(e *index.Entry) { e.Flags = index.IntentToAdd }),
			with("racy", func(e *index.Entry) { e.Mtime = at(200) }),
			with("smudged", func(e *index.Entry) { e.Size = 0 }),
			with("sound", func(*index.Entry) {}),
		},
	})
	st := Stat{Size: 7, Modified: 100*int64(time.Second) + 5, Changed: 101*int64(time.Second) + 5, Inode: 3}
	for name, want := range map[string]bool{
		"conflict": false, "empty": true, "intended": false, "racy": false, "smudged": false, "sound": true,
	} {
		st := st
		switch name {
		case "empty", "smudged":
			st.Size = 0
		case "racy":
			st.Modified += 100 * int64(time.Second)
		}
		if got := d.file(name).matches(st); got != want {
			t.Errorf("%s is trusted: %t", name, got)
		}
	}
	wrapped := st
	wrapped.Size += 1 << 32
	wrapped.Inode += 1 << 32
	f := d.file("sound")
	if !f.matches(wrapped) || f.matches(Stat{}) {
		t.Error("the wrong stats match")
	}
	for name, change := range map[string]func(*Stat){
		"size":  func(st *Stat) { st.Size++ },
		"mtime": func(st *Stat) { st.Modified++ },
		"ctime": func(st *Stat) { st.Changed++ },
		"inode": func(st *Stat) { st.Inode++ },
	} {
		other := st
		change(&other)
		if f.matches(other) {
			t.Errorf("a changed %s goes unnoticed", name)
		}
	}
	if Tracked(&index.Index{}) != nil {
		t.Error("an empty index has a root")
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	at := time.Unix(100, 0)
	c := Clock{Slack: time.Second, Keeps: true}
	old, recent := at.Add(-time.Second-1).UnixNano(), at.UnixNano()
	for _, test := range []struct {
		modified, changed int64
		want              bool
	}{{old, old, true}, {recent, old, false}, {old, recent, false}} {
		if got := c.settled(Stat{Modified: test.modified, Changed: test.changed}, at); got != test.want {
			t.Errorf("modified %d, changed %d: settled %t", test.modified, test.changed, got)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	want := state(t, "a", "a.b/c", "a/b", "d/e/f")
	objects := map[plumbing.Hash][]byte{}
	var put func(*Dir)
	put = func(d *Dir) {
		objects[d.ID()] = d.Object()
		for _, child := range d.Dirs {
			put(child)
		}
	}
	put(want)
	read := func(_ context.Context, id plumbing.Hash) ([]byte, error) {
		content, ok := objects[id]
		if !ok {
			return nil, plumbing.ErrObjectNotFound
		}
		return content, nil
	}
	got, err := Load(t.Context(), want.ID(), nil, read)
	if err != nil || len(Compare(got, want)) > 0 || got.ID() != want.ID() {
		t.Errorf("loaded %v, %v", got, err)
	}
	delete(objects, want.Dir("d/e").ID())
	if _, err := Load(t.Context(), want.ID(), nil, read); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("load without an object: %v", err)
	}
	for _, name := range []string{"", ".", "..", ".git", ".GIT", "a/b"} {
		content := appendEntry(nil, Regular, name, plumbing.Hash{})
		id := store.Sum(plumbing.TreeObject, content)
		objects[id] = content
		if _, err := Load(t.Context(), id, nil, read); !errors.Is(err, ErrTree) {
			t.Errorf("load of the name %q: %v", name, err)
		}
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendEntry(appendEntry(nil, Regular, "a", plumbing.Hash{1}), 0o40000, "b", plumbing.Hash{2}))
	f.Add([]byte("100644 a\x00short"))
	f.Add([]byte("100644a"))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := parseTree(content)
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			again = appendEntry(again, e.Mode, e.Name, e.ID)
		}
		back, err := parseTree(again)
		if err != nil || !reflect.DeepEqual(back, entries) {
			t.Errorf("%q is read as %v, then as %v, %v", content, entries, back, err)
		}
	})
}

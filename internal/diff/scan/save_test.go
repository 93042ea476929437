package scan

import (
	"bytes"
	"reflect"
	"testing"
)

// TestSaved: a state comes back as it was saved, with what it has in common
// with the index left out or not.
func TestSaved(t *testing.T) {
	t.Parallel()
	tracked := state(t, "a", "b/c", "b/d/e", "f/g", "f/h")
	now := state(t, "a", "b/c=other", "b/d/e", "f/g", "i/j")
	now.Dirs[0].listing = listing{stat: Stat{Size: 1, Modified: -2, Changed: 3, Inode: 1 << 63}, hasGit: true, hasIgnore: true, others: "x/y/"}
	for _, d := range []*Dir{now, tracked, {Files: []File{}, Dirs: []*Dir{}}} {
		d.Seal()
		for _, index := range []*Dir{nil, tracked} {
			got, err := Saved(d.Save(nil, index), index)
			if err != nil {
				t.Fatal(err)
			}
			if len(Compare(d, got)) > 0 || got.ID() != d.ID() || !bytes.Equal(got.Save(nil, index), d.Save(nil, index)) {
				t.Errorf("%v comes back as %v", d, got)
			}
			if below := got.Dir("b"); below != nil && below.listing != d.Dir("b").listing {
				t.Errorf("listing %+v", below.listing)
			}
		}
	}
}

// TestSavedTrust: what differs from the index is to be read again.
func TestSavedTrust(t *testing.T) {
	t.Parallel()
	tracked, now := state(t, "a", "b"), state(t, "a", "b=other", "c")
	for i := range now.Files {
		now.Files[i].trust = exact
	}
	got, err := Saved(now.Save(nil, tracked), tracked)
	if err != nil {
		t.Fatal(err)
	}
	var trusts []trust
	for _, f := range got.Files {
		trusts = append(trusts, f.trust)
	}
	if want := []trust{exact, doubtful, doubtful}; !reflect.DeepEqual(trusts, want) {
		t.Errorf("trust %v, want %v", trusts, want)
	}
}

func FuzzSaved(f *testing.F) {
	index := &Dir{Files: []File{{Name: "a", Mode: Regular}}, Dirs: []*Dir{{Name: "b"}}}
	index.Seal()
	f.Add([]byte{})
	f.Add(index.Save(nil, index))
	f.Add(index.Save(nil, nil))
	f.Add((&Dir{listing: listing{others: "x/"}, Files: index.Files}).Save(nil, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Saved(data, index)
		if err != nil {
			return
		}
		again, err := Saved(d.Save(nil, index), index)
		if err != nil || again.ID() != d.ID() {
			t.Errorf("%q comes back as %v, %v", data, again, err)
		}
	})
}

package loop_test

import (
	"reflect"
	"testing"

	"codeloops/internal/loop"
)

func TestShape(t *testing.T) {
	t.Parallel()
	const file, program, link, sub = 0o100644, 0o100755, 0o120000, 0o160000
	c := loop.Change{Insertions: 5, Deletions: 3, Files: []loop.FileChange{
		{Path: "a", Status: loop.FileAdded, NewMode: program},
		{Path: "b", Status: loop.FileModified, OldMode: file, NewMode: program},
		{Path: "c", Status: loop.FileModified, OldMode: program, NewMode: file, Binary: true},
		{Path: "d", Status: loop.FileDeleted, OldMode: program},
		{Path: "e", Status: loop.FileDeleted, OldMode: file},
		{Path: "e", Status: loop.FileAdded, NewMode: link},
		{Path: "f", Status: loop.FileModified, OldMode: sub, NewMode: sub},
		{Path: "g", OldPath: "h", Status: loop.FileRenamed, OldMode: file, NewMode: file},
		{Path: "i", Status: loop.FileModified, OldMode: file, NewMode: file},
	}}
	want := loop.Shape{
		Files: 8, Added: 1, Modified: 4, Deleted: 1, Renamed: 1, Retyped: 1,
		Executability: 3, Symlinks: 1, Submodules: 1, Binary: 1, Insertions: 5, Deletions: 3,
	}
	if got := c.Shape(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var natures [][]string
	for _, f := range c.Files {
		natures = append(natures, f.Nature())
	}
	if want := [][]string{
		{"now executable"}, {"now executable"}, {"binary", "no longer executable"}, nil, nil, {"symlink"}, {"submodule"}, nil, nil,
	}; !reflect.DeepEqual(natures, want) {
		t.Errorf("got %q, want %q", natures, want)
	}
	for text, s := range map[string]loop.Shape{
		"8 files: 1 added, 4 modified, 1 deleted, 1 renamed, 1 of another type; 3 made executable or no longer so, 1 symlink, 1 submodule, 1 binary": want,
		"1 file: 1 added": {Files: 1, Added: 1},
		"0 files":         {},
	} {
		if got := s.String(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

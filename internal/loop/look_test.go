package loop

import (
	"reflect"
	"strconv"
	"testing"
)

// TestLooked: a look reports what has changed since the last one, and what was restored.
func TestLooked(t *testing.T) {
	t.Parallel()
	a := FileChange{Path: "a", Status: FileModified, Insertions: 2, Deletions: 1, NewSize: 9}
	b := FileChange{Path: "b", Status: FileAdded, Binary: true, NewSize: 100}
	gone := FileChange{Path: "c", Status: FileDeleted, Deletions: 3}
	link := FileChange{Path: "c", Status: FileAdded, Insertions: 1, NewSize: 4}
	first := Change{Files: []FileChange{a, b}, Insertions: 2, Deletions: 1}
	seenA := Seen{Path: "a", Status: FileModified, Size: 9, Added: 2, Removed: 1}
	seenB := Seen{Path: "b", Status: FileAdded, Binary: true, Size: 100}
	for _, c := range []struct {
		name        string
		before, now Change
		want        *Look
	}{
		{"nothing", Change{}, Change{}, nil},
		{"the same", first, first, nil},
		{"the first", Change{}, first, &Look{Files: 2, Added: 2, Removed: 1, New: []Seen{seenA, seenB}}},
		{
			"of another type", first,
			Change{Files: []FileChange{b, gone, link}, Insertions: 1, Deletions: 3},
			&Look{Files: 2, Added: 1, Removed: 3, New: []Seen{{Path: "c", Status: FileModified, Size: 4, Added: 1, Removed: 3}, {Path: "a"}}},
		},
		{"all is back", first, Change{}, &Look{New: []Seen{{Path: "a"}, {Path: "b"}}}},
	} {
		if got := Looked(c.before, c.now); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	var many Change
	for n := range 100 {
		many.Files = append(many.Files, FileChange{Path: strconv.Itoa(n), Status: FileAdded})
	}
	if got := Looked(Change{}, many); got.Files != 100 || len(got.New) != maxSeen {
		t.Errorf("many files: %d, %d named", got.Files, len(got.New))
	}
}

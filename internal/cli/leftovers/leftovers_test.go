package leftovers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestList: a long list names the first items of each kind and counts all of them.
func TestList(t *testing.T) {
	t.Parallel()
	f := Found{Kept: []string{"a run is active"}}
	for n := range 12 {
		f.Things = append(f.Things, Thing{What: "a temporary file", Path: fmt.Sprint("/tmp/\x1b[31m", n), Bytes: 1024})
	}
	f.Things = append(f.Things, Thing{What: "a draft", Path: "/logs/.index-1", Bytes: 5})
	got := f.List()
	for _, line := range []string{"found /tmp/9  1.0 KiB  (a temporary file)", "found /logs/.index-1  5 B  (a draft)", "found more of these: 2 things, 2.0 KiB", "not removed: a run is active"} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("%q is missing:\n%s", line, got)
		}
	}
	if strings.Contains(got, "/tmp/10") || strings.Contains(got, "\x1b") {
		t.Errorf("listed:\n%s", got)
	}
}

// TestRemoveGoesOn: a file that cannot be removed does not stop the removal of the others.
func TestRemoveGoesOn(t *testing.T) {
	t.Parallel()
	gone := 0
	f := Found{Things: []Thing{
		{Path: "busy", remove: func(context.Context) error { return errBusy }},
		{Path: "free", remove: func(context.Context) error { gone++; return nil }},
	}}
	if err := f.Remove(t.Context()); !errors.Is(err, errBusy) || gone != 1 {
		t.Errorf("%v, %d were removed", err, gone)
	}
}

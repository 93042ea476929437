package diff_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestHugeFile: a file far above the size limit is never read into memory, neither when
// the session begins nor when it changes.
//
//nolint:paralleltest // it counts what is allocated
func TestHugeFile(t *testing.T) {
	huge := int64(128 << 20)
	if testing.Short() {
		huge = 40 << 20 // also above the limit
	}
	s := newRepoInMemory(t)
	s.write("tracked", "")
	s.must(os.Truncate(s.path("tracked"), huge)) // a sparse file uses no space
	s.commit("first")
	s.stale("tracked")
	s.write("untracked", "")
	s.must(os.Truncate(s.path("untracked"), huge))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tree := s.begin()
	s.must(os.Truncate(s.path("tracked"), huge+1))
	s.must(os.Truncate(s.path("untracked"), huge+2))
	c, err := tree.Capture(t.Context())
	s.must(err)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > uint64(huge)/8 {
		t.Errorf("%d bytes were allocated", allocated)
	}
	if got := summary(c); got != "M tracked\nM untracked\n" {
		t.Fatalf("captured %s", got)
	}
	for _, f := range c.Files {
		if !strings.Contains(f.Patch, ".."+s.git("hash-object", f.Path)+" 100644\nBinary files ") {
			t.Errorf("captured %s", f.Patch)
		}
	}
	if want := fmt.Sprintf("# too large to compare: %d bytes before, %d bytes after\n", huge, huge+1); !strings.HasSuffix(c.Files[0].Patch, want) {
		t.Errorf("captured %s", c.Files[0].Patch)
	}
}

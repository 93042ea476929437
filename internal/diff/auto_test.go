package diff_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

// TestByItself: nobody asks for what is saved, or for hints, but the number of files.
func TestByItself(t *testing.T) {
	t.Parallel()
	for files, want := range map[int]struct{ saved, hinted bool }{
		4_999: {}, 5_000: {saved: true}, 19_999: {saved: true}, 20_000: {saved: true, hinted: true},
	} {
		t.Run(strconv.Itoa(files), func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write("d/f", "f\n") // which is enough: the others are gone
			id := s.git("hash-object", "-w", "d/f")
			var entries strings.Builder
			for i := range files {
				fmt.Fprintf(&entries, "100644 %s\tgone/%d\n", id, i)
			}
			_, err := s.run(t.Context(), s.root, nil, []byte(entries.String()), "update-index", "--index-info")
			s.must(err)
			settle()
			for again := range 2 {
				o := s.options()
				o.SavedDir = s.savedDir()
				tree, err := diff.Open(t.Context(), s.root, o)
				s.must(err)
				s.trees = append(s.trees, tree)
				s.must(tree.Baseline(t.Context()))
				if got := tree.Recalled(); got != (want.saved && again > 0) {
					t.Errorf("process %d has a saved state: %t", again, got)
				}
				tree.AwaitHints()
				s.must(second(tree.Capture(t.Context())))
				if got := tree.HintsHold(); got != (want.hinted && canWatch(s.root)) {
					t.Errorf("process %d has hints: %t", again, got)
				}
				s.must(tree.Close())
				if _, err := os.Stat(s.savedDir()); (err == nil) != want.saved {
					t.Errorf("process %d saved its state: %t", again, err == nil)
				}
			}
		})
	}
}

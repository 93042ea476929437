package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/store"
)

// TestBlobsInParallel: several goroutines can read, look up and write objects while git
// repacks them and removes the files they read from.
func TestBlobsInParallel(t *testing.T) {
	t.Parallel()
	const blobs, readers = 20, 4
	g := newGitDir(t)
	content := make(map[plumbing.Hash]string)
	for i := range blobs {
		text := strings.Repeat(fmt.Sprintf("line of %d\n", i), 1000*i)
		content[g.blob(text)] = text
	}
	s := g.store()
	packed := make(chan struct{})
	var workers sync.WaitGroup
	for n := range readers {
		workers.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-packed:
					return
				default:
				}
				for id, want := range content {
					if got, err := s.Blob(t.Context(), id); err != nil || string(got) != want {
						t.Errorf("read %d bytes, %v, want %d", len(got), err, len(want))
						return
					}
				}
				own := fmt.Appendf(nil, "%d of %d", round, n)
				id := store.Sum(plumbing.BlobObject, own)
				if err := s.Keep(id, own); err != nil {
					t.Error(err)
				}
				if err := s.Persist(id); err != nil || !s.Has(t.Context(), id) {
					t.Errorf("a written blob is there: %t, %v", s.Has(t.Context(), id), err)
				}
			}
		})
	}
	for i := range 6 {
		g.git("", "repack", "-q", "-a", "-d", "-f", fmt.Sprintf("--depth=%d", 10*i))
	}
	close(packed)
	workers.Wait()
}

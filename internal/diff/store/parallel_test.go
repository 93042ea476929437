package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/store"
)

// TestBlobsInParallel: several goroutines read, ask and write while git packs the
// objects anew, so that each of the files that they read from goes away.
func TestBlobsInParallel(t *testing.T) {
	t.Parallel()
	const blobs, readers = 20, 4
	g := newGitDir(t)
	content := make(map[plumbing.Hash]string)
	for i := range blobs {
		text := strings.Repeat(fmt.Sprintf("line of %d\n", i), 1000*i)
		content[g.blob(text)] = text
	}
	s := store.New(store.Options{ObjectsDir: g.objects(), Dir: g.path}) // without git's help
	t.Cleanup(func() { _ = s.Close() })
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
				if _, err := s.Persist(id); err != nil || !s.Has(t.Context(), id) {
					t.Errorf("it has what was written: %t, %v", s.Has(t.Context(), id), err)
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

// A stuck context is asked whether it has ended, and answers when it may go on.
type stuck struct {
	context.Context //nolint:containedctx // it is one
	asked, on       chan struct{}
}

func (c stuck) Err() error {
	select {
	case c.asked <- struct{}{}:
		<-c.on
	case <-c.on:
	}
	return nil
}

// TestNobodyWaits: while one object is read for long, whoever finds that another one is
// missing, that the packs have changed, or that nothing is needed any more, goes on.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	long := strings.Repeat("long\n", 100_000)
	id, other := g.blob(long), g.blob("other\n")
	g.git("", "repack", "-q", "-a", "-d")
	s := store.New(store.Options{ObjectsDir: g.objects(), Dir: g.path})
	ctx := stuck{t.Context(), make(chan struct{}), make(chan struct{})}
	var reader, others sync.WaitGroup
	reader.Go(func() {
		if got, err := s.Blob(ctx, id); err != nil || string(got) != long {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
	})
	<-ctx.asked
	others.Go(func() {
		if _, err := s.Blob(t.Context(), plumbing.Hash{1}); !errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Errorf("what is missing: %v", err)
		}
		g.git("", "repack", "-q", "-a", "-d", "-F", "--window=0")
		if !s.Has(t.Context(), other) || s.Has(t.Context(), plumbing.Hash{1}) {
			t.Error("Has is wrong")
		}
		checkBlob(t, s, other, "other\n")
		must(t, s.Close())
	})
	gone := make(chan struct{})
	go func() { others.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(3 * time.Minute): // whoever waits for the reader does so for ever
		t.Error("they wait")
	}
	close(ctx.on)
	reader.Wait()
	<-gone
	must(t, s.Close())
}

// TestHasAgain: that an index could not be opened once is not for ever.
func TestHasAgain(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	id := g.blob("there\n")
	g.git("", "repack", "-q", "-a", "-d")
	g.git("", "prune-packed")
	found, err := filepath.Glob(filepath.Join(g.objects(), "pack", "*.idx"))
	if err != nil || len(found) != 1 {
		t.Fatalf("indexes %q, %v", found, err)
	}
	elsewhere := filepath.Join(t.TempDir(), "index")
	must(t, os.Rename(found[0], elsewhere))
	if err := os.Symlink(elsewhere, found[0]); err != nil {
		t.Skip(err)
	}
	s := g.store()
	if !s.Has(t.Context(), id) {
		t.Error("it is not there through a symbolic link")
	}
	must(t, s.Close())
	must(t, os.Rename(elsewhere, elsewhere+"."))
	if s.Has(t.Context(), id) {
		t.Error("it is there without an index")
	}
	must(t, os.Rename(elsewhere+".", elsewhere))
	if !s.Has(t.Context(), id) || !s.Freshen(t.Context(), plumbing.BlobObject, id) {
		t.Error("it is not there again")
	}
}

// TestKeepWhilePruned: another process removes what is not finished, and what is empty,
// at any moment, though not from under each try: it could be the faster one for ever.
func TestKeepWhilePruned(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	s := g.store()
	done := make(chan struct{})
	var pruner sync.WaitGroup
	var mu sync.Mutex
	left, removed := 0, 0 // left are those that may be removed while one blob is written
	remove := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		if left > 0 && os.Remove(name) == nil {
			left--
			removed++
		}
	}
	pruner.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, pattern := range []string{"tmp_obj_*", "??"} { // directories, when they are empty
				names, _ := filepath.Glob(filepath.Join(g.objects(), pattern))
				for _, name := range names {
					remove(name)
				}
			}
			time.Sleep(200 * time.Microsecond)
		}
	})
	for i := range 1000 {
		mu.Lock()
		left = store.Attempts - 1
		mu.Unlock()
		content := strconv.AppendInt(make([]byte, 64<<10, 65<<10), int64(i), 10)
		id := store.Sum(plumbing.BlobObject, content)
		b := s.Batch()
		b.Add(plumbing.BlobObject, content)
		if err := b.Write(t.Context()); err != nil || !s.Has(t.Context(), id) {
			t.Errorf("blob %d is there: %t, %v", i, s.Has(t.Context(), id), err)
			break
		}
		must(t, os.Remove(g.loose(id)))
	}
	close(done)
	pruner.Wait()
	t.Logf("%d were removed", removed)
}

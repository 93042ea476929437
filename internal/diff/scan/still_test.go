package scan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// plainTree makes a directory with a file in each of some directories, and returns
// it with the state that a scan finds later.
func plainTree(t *testing.T, dirs ...string) (root string, first *Dir, later time.Time) {
	t.Helper()
	root, later = t.TempDir(), time.Now().Add(time.Minute)
	for _, dir := range dirs {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		must(t, os.WriteFile(filepath.Join(root, dir, "f"), []byte(dir), 0o600))
	}
	state, err := scannerOf(root, later).Scan(t.Context(), Known{})
	must(t, err)
	return root, state.Root, later
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second(_ State, err error) error { return err }

// again are those who know that nothing but the files may have changed.
func again(last *Dir) Known { return Known{Base: last, Last: last, Listed: true, Same: true} }

// TestStillDoubtful: a file of which the stat proves nothing is read again, though
// its stat is what it was.
func TestStillDoubtful(t *testing.T) {
	t.Parallel()
	root, first, later := plainTree(t, "a", "b")
	f := first.Find("a/f")
	want := *f
	f.trust, f.ID = doubtful, plumbing.Hash{1}
	state, err := scannerOf(root, later).Scan(t.Context(), again(first))
	must(t, err)
	if got := *state.Root.Find("a/f"); !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// TestStillOtherwise: files that are in scope only because they were in a state are
// seen as git sees them now, in every directory, when it is told to see modes or to
// see them no more.
func TestStillOtherwise(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no file is executable by its mode")
	}
	for now, want := range map[bool]uint32{false: Regular, true: Executable} {
		root, _, later := plainTree(t, "a/b", "c")
		names := []string{"a/f", "a/b/f"}
		for _, name := range names {
			must(t, os.WriteFile(filepath.Join(root, name), nil, 0o600))
			must(t, os.Chmod(filepath.Join(root, name), 0o700))
		}
		s := scannerOf(root, later)
		s.FileMode = !now
		first, err := s.Scan(t.Context(), Known{})
		must(t, err)
		s.FileMode = now
		state, err := s.Scan(t.Context(), Known{Base: &Dir{}, Last: first.Root, Also: first.Root, Listed: true})
		must(t, err)
		for _, name := range names {
			if got := state.Root.Find(name).Mode; got != want {
				t.Errorf("core.fileMode becomes %t: %s has mode %o, want %o", now, name, got, want)
			}
		}
	}
}

// TestStillEnds: when the context has ended, no more directories are looked at.
func TestStillEnds(t *testing.T) {
	t.Parallel()
	root, first, later := plainTree(t, numbered(4)...)
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := second(scannerOf(root, later).Scan(ctx, again(first))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestFailureEnds: after a failure no more directories are looked at, whichever
// goroutine it was that failed.
func TestFailureEnds(t *testing.T) {
	t.Parallel()
	dirs := numbered(8 * runtime.GOMAXPROCS(0))
	root, _, later := plainTree(t, dirs...)
	var looks atomic.Int32
	s := scannerOf(root, later)
	s.Blobs = full{looks: &looks}
	err := second(s.Scan(t.Context(), Known{}))
	if n := int(looks.Load()); n > len(dirs)/2 || !errors.Is(err, errFull) {
		t.Errorf("%d looks, error %v", n, err)
	}
}

// numbered returns so many names.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, strconv.Itoa(i))
	}
	return names
}

// full has no room for a content.
type full struct {
	Blobs
	looks *atomic.Int32 // contents that were to be kept
}

var errFull = errors.New("no room")

func (f full) Keep(plumbing.Hash, []byte) error {
	f.looks.Add(1)
	return errFull
}

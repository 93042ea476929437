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

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/store"
)

// scannerOf returns a scanner whose clock stands still.
func scannerOf(root string, at time.Time) *Scanner {
	return &Scanner{
		Root: root, FileSystem: FileSystem{FileMode: true, Symlinks: true}, Clock: Clock{Slack: time.Second, Keeps: true},
		Now:   func() time.Time { return at },
		Blobs: store.New(store.Options{}), Rules: ignore.New(ignore.Options{WorkTree: root}),
		Conversion: attr.Conversion{Reader: attr.New(attr.Options{WorkTree: root})}, Inside: none{},
	}
}

// none stands for a work tree without nested repositories.
type none struct{}

func (none) Head(string) (Head, error)           { return Head{}, nil }
func (none) Embedded(string, bool) (Head, error) { return Head{}, nil }
func (none) Nest(string) bool                    { return false }

// plainTree makes a directory in which each of some directories holds a file. It returns
// the state that a scan finds later.
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

// TestShared: an unchanged directory is shared with the last state.
func TestShared(t *testing.T) {
	t.Parallel()
	root, first, later := plainTree(t, "a/b", "c")
	must(t, os.WriteFile(filepath.Join(root, "c/g"), nil, 0o600))
	state, err := scannerOf(root, later).Scan(t.Context(), Known{Base: first, Last: first})
	must(t, err)
	if state.Root.Dir("a") != first.Dir("a") || state.Root.Dir("c") == first.Dir("c") {
		t.Error("the wrong directories are shared")
	}
}

// TestDoubtful: a file whose stat proves nothing is read again, even if the stat is
// unchanged.
func TestDoubtful(t *testing.T) {
	t.Parallel()
	root, first, later := plainTree(t, "a", "b")
	f := first.Find("a/f")
	want := *f
	f.trust, f.ID = doubtful, plumbing.Hash{1}
	state, err := scannerOf(root, later).Scan(t.Context(), Known{Base: first, Last: first})
	must(t, err)
	if got := *state.Root.Find("a/f"); !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// TestUnsettled: a file that was changed shortly before it was read is not recognized by
// its stat, because it may change again without changing its stat.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	name := filepath.Join(root, "f")
	must(t, os.WriteFile(name, []byte("f\n"), 0o600))
	info, err := os.Stat(name)
	must(t, err)
	for later, want := range map[time.Duration]bool{time.Minute: true, time.Second: false, -time.Minute: false} {
		state, err := scannerOf(root, info.ModTime().Add(later)).Scan(t.Context(), Known{})
		must(t, err)
		if got := state.Root.file("f").trust == exact; got != want {
			t.Errorf("looked at %v after the change: the file is known by its stat: %t", later, got)
		}
	}
}

// TestScanEnds: a scan stops when its context ends.
func TestScanEnds(t *testing.T) {
	t.Parallel()
	root, first, later := plainTree(t, numbered(4)...)
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := second(scannerOf(root, later).Scan(ctx, Known{Base: first, Last: first})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestFailureEnds: a scan stops after a failure, no matter in which goroutine.
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

// numbered returns n names.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, strconv.Itoa(i))
	}
	return names
}

// full is a store without space.
type full struct {
	Blobs
	looks *atomic.Int32 // how many contents were to be stored
}

var errFull = errors.New("no room")

func (f full) Keep(plumbing.Hash, []byte) error {
	f.looks.Add(1)
	return errFull
}

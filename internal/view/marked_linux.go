package view

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Marked lists what has attributes that hide files in an overlay, by path from the root: anybody who
// may write a file can set them, and nothing else shows them. Until they are gone, views are copies.
func (p *Place) Marked(ctx context.Context) (paths []string, err error) {
	if p.kind != Overlay || p.Sight != nil { // a replica has marks of ours
		return nil, nil
	}
	if _, err := unix.Llistxattr(p.Root, nil); errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	s := search{busy: make(chan struct{}, runtime.GOMAXPROCS(0))}
	for _, dir := range p.dirs() {
		s.file(dir)
		s.directory(ctx, dir)
	}
	s.others.Wait()
	for _, name := range s.found {
		if rel, err := filepath.Rel(p.Root, name); err == nil {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	slices.Sort(paths)
	p.hides.Store(len(paths) > 0)
	return paths, context.Cause(ctx)
}

// A search looks for marks.
type search struct {
	busy   chan struct{}
	others sync.WaitGroup
	mu     sync.Mutex // guards found
	found  []string
}

func (s *search) directory(ctx context.Context, dir string) {
	entries, _ := os.ReadDir(dir) // commands cannot read it either
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if e.Type()&fs.ModeSymlink == 0 { // links have no such attributes
			s.file(name)
		}
		if !e.IsDir() || ctx.Err() != nil {
			continue
		}
		select {
		case s.busy <- struct{}{}:
			s.others.Go(func() {
				s.directory(ctx, name)
				<-s.busy
			})
		default:
			s.directory(ctx, name)
		}
	}
}

func (s *search) file(name string) {
	var room [1 << 10]byte
	attributes := room[:]
	n, err := unix.Llistxattr(name, attributes)
	if errors.Is(err, unix.ERANGE) {
		attributes = make([]byte, 1<<16) // the kernel's maximum
		n, err = unix.Llistxattr(name, attributes)
	}
	if err != nil || n == 0 {
		return
	}
	for one := range bytes.SplitSeq(attributes[:n], []byte{0}) {
		if strings.HasPrefix(string(one), "user.overlay.") {
			s.mu.Lock()
			s.found = append(s.found, name)
			s.mu.Unlock()
			return
		}
	}
}

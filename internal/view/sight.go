package view

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"codeloops/internal/proc"
)

// A Sight shows commands a replica at the path of the work tree, instead of the work tree. If not
// everything was copied, the replica is the upper layer of an overlay.
type Sight struct {
	at      string // the path of the work tree
	replica *Replica
	outer   *Sight // the sight that the replica was made of; nil for the work tree itself
	// Open are the directories in which layers below show, including those of outer; see
	// [beneath].
	open    map[string][]string
	objects []proc.Bind // the borrowed objects of the replica

	mu sync.Mutex // held while covering or uncovering the replica
}

// Sight returns a sight of the replica at the path of a work tree. If the replica was made of
// another replica, outer is the sight of that one, and otherwise nil.
func (c *Replica) Sight(at string, outer *Sight) (*Sight, error) {
	s := &Sight{at: at, replica: c, outer: outer, open: make(map[string][]string)}
	b, err := c.beneath()
	if err != nil {
		return nil, err
	}
	opens := []map[string][]string{b.Open}
	if outer != nil {
		s.objects = slices.Clone(outer.objects)
		opens = append(opens, outer.open)
	}
	for _, open := range opens {
		for dir, names := range open {
			s.open[dir] = slices.Concat(s.open[dir], names)
		}
	}
	lent, err := os.ReadDir(c.of.lent)
	if err != nil {
		return nil, err
	}
	for _, e := range lent {
		if e.IsDir() {
			continue
		}
		name := filepath.Join(c.of.lent, e.Name())
		objects, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s.objects = append(s.objects, proc.Bind{Dir: name + ".d", Of: string(objects)})
	}
	return s, nil
}

// layers returns the layers of the sight, the uppermost first.
func (s *Sight) layers() []string {
	switch {
	case len(s.open) == 0:
		return []string{s.replica.Root}
	case s.outer == nil:
		return []string{s.replica.Root, s.at}
	}
	return append([]string{s.replica.Root}, s.outer.layers()...)
}

// cover hides what must not show through the replica: files that were made in the work tree since
// the replica was made, or that were removed from the replica. It runs before each command.
func (s *Sight) cover() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lower := s.layers()[1:]
	for dir, shows := range s.open {
		var inside []string // open directories
		for name := range s.open {
			if name != "." && path.Dir(name) == dir {
				inside = append(inside, path.Base(name))
			}
		}
		if err := cover(s.replica.Root, dir, lower, shows, inside); err != nil {
			return fmt.Errorf("cover what is beneath %s: %w", s.replica.Root, err)
		}
	}
	return nil
}

// Uncover removes the whiteouts of files that commands have removed, which would be in the way of
// restoring those files.
func (s *Sight) Uncover() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir, shows := range s.open {
		if err := uncover(s.replica.Root, dir, shows); err != nil {
			return fmt.Errorf("put files into %s: %w", s.replica.Root, err)
		}
	}
	return nil
}

// show makes a command see the replica, and write to it.
func (s *Sight) show(c *proc.Command) error {
	if len(s.open) == 0 {
		c.Binds = append(c.Binds, proc.Bind{Dir: s.at, Of: s.replica.Root})
		c.Binds = append(c.Binds, s.objects...)
		return nil
	}
	if err := s.cover(); err != nil {
		return err
	}
	work := filepath.Join(s.replica.home, "work")
	if err := errors.Join(remove(work), os.Mkdir(work, 0o700)); err != nil {
		return err
	}
	layers := s.layers()
	c.Binds = append(c.Binds, s.objects...)
	c.Overlays = append(c.Overlays, proc.Overlay{Dir: s.at, Lower: layers[1:], Upper: layers[0], Work: work})
	return nil
}

// lower returns the lower layers for a view of a directory, or nil if that is the directory itself.
func (s *Sight) lower(dir string) ([]string, error) {
	if s == nil || dir != s.replica.Root {
		return nil, nil
	}
	if len(s.open) > 0 {
		if err := s.cover(); err != nil {
			return nil, err
		}
	}
	return s.layers(), nil
}

// tryLayers returns an error if commands could not see a replica in some directory as the upper layer
// of an overlay.
func (p *Place) tryLayers(ctx context.Context, dir string) (err error) {
	switch mounts, err := mountsBelow(p.Root); {
	case err != nil:
		return err
	case len(mounts) > 0:
		return fmt.Errorf("%s is mounted in %s", mounts[0], p.Root) // it would not show
	}
	upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	defer func() { err = errors.Join(err, remove(dir)) }()
	if err := errors.Join(os.MkdirAll(filepath.Join(upper, "closed"), 0o700), os.Mkdir(work, 0o700), cover(upper, ".", nil, nil, nil)); err != nil {
		return err
	}
	res, err := p.Starter.Run(ctx, proc.Command{
		Invocation: proc.Invocation{Argv: []string{"/bin/sh", "-c", "rmdir closed && ! test -e closed"}, Dir: p.Root, Env: os.Environ()},
		View:       proc.View{Overlays: []proc.Overlay{{Dir: p.Root, Upper: upper, Work: work}}},
	})
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("a command in it ends with exit code %d", res.ExitCode)
	}
	return err
}

// Layers reports whether commands can see a replica as the upper layer of an overlay. It tries that in
// a directory, which it makes and removes.
func (p *Place) Layers(ctx context.Context, dir string) bool {
	return p.kind == Overlay && p.tryLayers(ctx, dir) == nil
}

// found returns the path at which commands find a path of the work tree.
func (p *Place) found(of string) string {
	if p.Sight != nil && below(p.Sight.replica.Root, of) {
		rel, _ := filepath.Rel(p.Sight.replica.Root, of)
		return filepath.Join(p.Sight.at, rel)
	}
	return of
}

// own returns the path in the work tree of one at which commands find it.
func (p *Place) own(found string) string {
	if p.Sight != nil && below(p.Sight.at, found) {
		rel, _ := filepath.Rel(p.Sight.at, found)
		return filepath.Join(p.Sight.replica.Root, rel)
	}
	return found
}

// A SightStarter is a [Starter] that shows commands a sight.
type SightStarter struct {
	Starter
	Sight *Sight
}

// Run runs a command.
func (s SightStarter) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	if err := s.Sight.show(&c); err != nil {
		return proc.Result{}, err
	}
	return s.Starter.Run(ctx, c)
}

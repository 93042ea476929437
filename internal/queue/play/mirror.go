package play

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/wording/hint"
)

// A mirror is a local copy of a repository on another machine.
type mirror struct {
	*parcel.Room

	dir string
}

// mirror opens the mirror of a repository.
func (p *Player) mirror(ctx context.Context, r queue.Repository) (*mirror, error) {
	m := &mirror{dir: p.Home.In("mirrors", r.Key()+".git")}
	if err := os.MkdirAll(filepath.Dir(m.dir), 0o700); err != nil {
		return nil, err
	}
	unlock, err := m.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	m.Room, err = parcel.OpenRoom(ctx, m.dir, p.Starter, p.Host.Environ)
	return m, err
}

func (m *mirror) lock() (unlock func(), err error) {
	return lockedfile.MutexAt(m.dir + lockEnding).Lock()
}

func (m *mirror) objects() string { return filepath.Join(m.CommonDir, "objects") }

// has lists the commits that the mirror was last updated to.
func (m *mirror) has(ctx context.Context) ([]string, error) {
	refs, err := m.Refs(ctx, "refs/codeloops/")
	return slices.Collect(maps.Values(refs)), err
}

// update updates the mirror to an answer; take imports what was sent.
func (m *mirror) update(ctx context.Context, target string, a *answer, take func() error) error {
	unlock, err := m.lock() // concurrent updates of the same refs would fail
	if err != nil {
		return err
	}
	defer unlock()
	if err := take(); err != nil {
		return err
	}
	if known, err := m.Known(ctx, []string{a.Base, a.Onto}); err != nil || len(known) != 2 {
		return errors.Join(err, hint.Errorf("remove it; a new one will be made", "the mirror in %s lacks commits that it should have", m.dir))
	}
	ref := "refs/codeloops/target/" + strings.ReplaceAll(target, "/", "-")
	if err := m.Set(ctx, map[string]string{baseRef: a.Base, ontoRef: a.Onto, ref: a.Onto}); err != nil {
		return err
	}
	_, err = m.Run(ctx, m.Root, "-c", "gc.auto=6700", "gc", "--auto", "--quiet")
	return err
}

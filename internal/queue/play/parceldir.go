package play

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"

	"codeloops/internal/queue"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/wording/hint"
)

// A parcelDir is a temporary directory in which a task's parcels are packed and opened.
type parcelDir struct {
	*parcel.Room

	store *parcel.Store
	dir   string
	close func()
}

// parcelDir opens a parcelDir that can read the objects of some repositories.
func (p *Player) parcelDir(ctx context.Context, name string, of ...*git.Repo) (*parcelDir, error) {
	dir, done, err := p.tempDirs().room(name)
	if err != nil {
		return nil, err
	}
	d := &parcelDir{dir: dir, close: done}
	var objects []string
	for _, repo := range of {
		objects = append(objects, filepath.Join(repo.CommonDir, "objects"))
	}
	if d.Room, err = parcel.OpenRoom(ctx, d.file("repo.git"), p.Starter, p.Host.Environ, objects...); err == nil {
		d.store, err = parcel.OpenStore(ctx, p.Conn, p.Replicas)
	}
	if err != nil {
		done()
		return nil, err
	}
	return d, nil
}

func (d *parcelDir) file(name string) string { return filepath.Join(d.dir, name) }

// sent opens what an attempt has sent; nil is nothing.
func (d *parcelDir) sent(ctx context.Context, r *queue.Record, remote *parcel.Remote) (*parcel.Parcel, error) {
	if remote != nil && r.Parcels.Count > 0 {
		if err := d.Fetch(ctx, remote, r.Task.ID, r.Parcels.Attempt); err != nil {
			return nil, err
		}
	}
	return d.open(ctx, r.Task.ID, r.Parcels.Names(r.Task.ID)...)
}

// open opens the parcels of a task in order, and returns the last one; nil is none.
func (d *parcelDir) open(ctx context.Context, task string, names ...string) (last *parcel.Parcel, err error) {
	for _, name := range names {
		if err := d.store.Get(ctx, name, d.file("parcel")); err != nil {
			return nil, err
		}
		if last, err = d.Open(ctx, d.file("parcel"), task); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// take downloads what was sent for this attempt alone, and removes it from the hub.
func (d *parcelDir) take(ctx context.Context, name, file string) error {
	defer d.drop(context.WithoutCancel(ctx), name)
	return d.store.Get(ctx, name, file)
}

// drop removes parcels from the hub.
func (d *parcelDir) drop(ctx context.Context, names ...string) {
	_ = d.store.Delete(ctx, names...) // on failure the sweep removes it
}

// forget removes the refs of a task from a remote. Any that remain do no harm.
func (d *parcelDir) forget(ctx context.Context, g *ground, r *queue.Record, url string) {
	if url == "" {
		return
	}
	remote, err := g.recorded(ctx, url)
	if err == nil {
		err = d.Forget(ctx, remote, r.Task.ID, r.Attempt)
	}
	if err != nil && ctx.Err() == nil {
		g.player.Tell(r.Task.ID, fmt.Sprintf("refs below %s stay until you remove them: %s", parcel.Away(r.Task.ID), err))
	}
}

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
func (m *mirror) has() ([]string, error) {
	refs, err := m.Refs("refs/codeloops/")
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

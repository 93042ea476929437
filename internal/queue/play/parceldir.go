package play

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
)

// A parcelDir is a temporary directory in which a task's parcels are packed and opened.
type parcelDir struct {
	*parcel.Room

	store *parcel.Store
	dir   string
	close func()
}

// parcelDir opens a parcelDir that can read the objects of other directories.
func (p *Player) parcelDir(ctx context.Context, name string, objects ...string) (*parcelDir, error) {
	dir, done, err := p.tempDirs().room(name)
	if err != nil {
		return nil, err
	}
	d := &parcelDir{dir: dir, close: done}
	if d.Room, err = parcel.OpenRoom(d.file("repo.git"), p.Starter, p.Host.Environ, objects...); err == nil {
		d.store, err = parcel.OpenStore(ctx, p.Conn, p.Replicas)
	}
	if err != nil {
		done()
		return nil, err
	}
	return d, nil
}

func (d *parcelDir) file(name string) string { return filepath.Join(d.dir, name) }

// sent opens what an attempt has sent.
func (d *parcelDir) sent(ctx context.Context, r *queue.Record) (one parcel.Parcel, err error) {
	if r.Parcel > 0 {
		err = d.get(ctx, queue.ParcelOf(r.Task.ID, r.Parcel))
	}
	if err != nil {
		return one, err
	}
	return d.Open(ctx)
}

// get downloads a parcel into the room.
func (d *parcelDir) get(ctx context.Context, name string) error {
	if err := d.store.Get(ctx, name, d.file("parcel")); err != nil {
		return err
	}
	return d.Unbundle(ctx, d.file("parcel"))
}

// drop removes parcels from the hub.
func (d *parcelDir) drop(ctx context.Context, names ...string) {
	_ = d.store.Delete(ctx, names...) // on failure the sweep removes it
}

// mirror opens the local copy of a repository on another machine.
func (p *Player) mirror(r queue.Repository) (*parcel.Room, error) {
	dir := p.Home.In("mirrors", r.Key()+".git")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	unlock, err := file.Lock(dir + lockEnding)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return parcel.OpenRoom(dir, p.Starter, p.Host.Environ)
}

// mirrored updates a mirror to what an attempt begins at.
func (d *parcelDir) mirrored(ctx context.Context, m *parcel.Room, target string) error {
	unlock, err := file.Lock(m.Root + lockEnding) // concurrent updates of the same refs would fail
	if err != nil {
		return err
	}
	defer unlock()
	ref := "refs/codeloops/target/" + strings.ReplaceAll(target, "/", "-")
	if err := d.Give(ctx, m.Root, "+"+parcel.Base+":refs/codeloops/base", "+"+parcel.Onto+":refs/codeloops/onto", "+"+parcel.Onto+":"+ref); err != nil {
		return err
	}
	_, err = m.Run(ctx, m.Root, "-c", "gc.auto=6700", "gc", "--auto", "--quiet")
	return err
}

package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/session"
	"codeloops/internal/view"
)

// lockEnding ends the name of the lock beside a directory of [Player.scratch].
const lockEnding = ".lock"

// scratch makes a directory for what this process alone has a use for, and only for now. What those who
// were killed have left of theirs is removed.
func (p *Player) scratch(name string) (dir string, done func(), err error) {
	home := p.Home.In("away")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", nil, err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return "", nil, err
	}
	p.Tidy()
	dir = filepath.Join(home, name)
	lock, free, err := session.LockFile(dir + lockEnding)
	if err == nil && !free {
		err = fmt.Errorf("another process is at work in %s", dir)
	}
	if err != nil {
		return "", nil, err
	}
	done = func() {
		// The lock goes last, or nobody would look for the rest.
		if view.Remove(dir) == nil {
			_ = os.Remove(dir + lockEnding)
		}
		_ = lock.Close()
	}
	if err := errors.Join(view.Remove(dir), os.MkdirAll(dir, 0o700)); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// Tidy removes what processes of this home that were killed have left of tasks of other machines.
func (p *Player) Tidy() {
	home := p.Home.In("away")
	entries, _ := os.ReadDir(home) // no directory, nothing left
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), lockEnding)
		if !ok {
			continue
		}
		path := filepath.Join(home, e.Name())
		lock, free, err := session.LockFile(path)
		if err != nil || !free {
			continue
		}
		if view.Remove(filepath.Join(home, name)) == nil { // else the next one tries it again
			_ = os.Remove(path)
		}
		_ = lock.Close()
	}
}

// Sweep removes what nobody has a use for any more, and the tasks of a backlog do not name: what was left
// by those who were killed, here and on the hub.
func (p *Player) Sweep(ctx context.Context, all queue.Backlog) error {
	p.Tidy()
	store, err := p.parcels(ctx)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for id, r := range all {
		for _, name := range r.Parcels.Names(id) {
			used[name] = true
		}
	}
	return store.Sweep(ctx, func(name string) bool { return used[name] }, parcel.Idle(p.Board.Now()))
}

// parcels is the store of parcels on the hub.
func (p *Player) parcels(ctx context.Context) (*parcel.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store == nil {
		store, err := parcel.OpenStore(ctx, p.Conn, p.Replicas)
		if err != nil {
			return nil, err
		}
		p.store = store
	}
	return p.store, nil
}

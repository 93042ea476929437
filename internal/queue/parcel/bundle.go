package parcel

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"codeloops/internal/queue/git"
	"codeloops/internal/session"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Git is how this package runs git.
type Git struct {
	Starter git.Starter
	Environ []string
}

// IsBundle reports whether a file begins like a bundle of git's.
func IsBundle(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	head := make([]byte, len("# v2 git bundle\n"))
	_, err = io.ReadFull(f, head)
	return err == nil && (bytes.Equal(head, []byte("# v2 git bundle\n")) || bytes.Equal(head, []byte("# v3 git bundle\n")))
}

// Bundle writes a session to one file, from which [Git.Unbundle] takes it up on another machine: the part of its log
// that can be resumed, what is beside it, and its checkpoints with all files in them.
func (g Git) Bundle(ctx context.Context, log, file string) error {
	one := session.Look(log)
	if one.Err != nil {
		return one.Err
	}
	if one.Session.Task != "" {
		return hint.Errorf("codeloops queue show "+one.Session.Task, "session %s is of a task of the queue, which carries it itself", one.ID)
	}
	return g.room(func(room *Room) error {
		fresh, err := (&Packer{Room: room}).Session(ctx, one.ID, log)
		if err == nil && !fresh {
			err = hint.Errorf("its log alone: codeloops sessions export --format json", "session %s has kept no state of the work tree that could be resumed", one.ID)
		}
		if err == nil {
			_, err = room.Bundle(ctx, file, nil)
		}
		return err
	})
}

// Unbundle stores the session of a file as one of a directory here, and returns its ID. A session that is there already is
// an error.
func (g Git) Unbundle(ctx context.Context, file string, store *session.Store, dir string) (id string, err error) {
	err = g.room(func(room *Room) error {
		if err := room.Unbundle(ctx, file); err != nil {
			return err
		}
		p, err := room.Open(ctx, "")
		if err == nil && (p == nil || p.Session == "") {
			err = fmt.Errorf("there is no session in it: %w", ErrWrong)
		}
		if err != nil {
			return err
		}
		if id = p.Session; session.Look(store.Path(id)).Err == nil {
			return hint.Errorf("codeloops resume "+id, "session %s is here already", id)
		}
		return p.Unpack(ctx, store, dir)
	})
	if err != nil {
		err = fmt.Errorf("take up the session in %s: %w", wording.OSPath(file), err)
	}
	return id, err
}

// room opens a room of a moment.
func (g Git) room(do func(*Room) error) error {
	dir, err := os.MkdirTemp("", "codeloops-bundle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system tidies it up
	room, err := OpenRoom(filepath.Join(dir, "room.git"), g.Starter, g.Environ)
	if err != nil {
		return err
	}
	return do(room)
}

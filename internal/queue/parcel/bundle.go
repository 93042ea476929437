package parcel

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/session"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// IsBundle reports whether a file begins like a bundle of git's.
func IsBundle(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	head := make([]byte, len("# v2 git bundle\n"))
	_, err = io.ReadFull(f, head)
	return err == nil && strings.HasPrefix(string(head), "# v") && strings.HasSuffix(string(head), " git bundle\n")
}

// InRoom opens a room of a moment.
func InRoom(starter git.Starter, environ []string, do func(*Room) error) error {
	dir, err := os.MkdirTemp("", "codeloops-bundle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system tidies it up
	room, err := OpenRoom(filepath.Join(dir, "room.git"), starter, environ)
	if err != nil {
		return err
	}
	return do(room)
}

// Export writes a session to one file, from which [Room.Import] takes it up on another machine: the part of its log
// that can be resumed, what is beside it, and its checkpoints with all files in them.
func (r *Room) Export(ctx context.Context, log, file string) error {
	var settled session.Settled
	err := settled.Read(log)
	switch one := settled.Session; {
	case err != nil:
	case one.Task != "":
		err = hint.Errorf("codeloops queue show "+one.Task, "session %s is of a task of the queue, which carries it itself", one.ID)
	case settled.Size == 0:
		err = hint.Errorf("its log alone: codeloops sessions export --format json", "session %s has kept no state of the work tree that could be resumed", one.ID)
	default:
		err = r.Pack(ctx, one, log)
	}
	if err == nil {
		_, err = r.Bundle(ctx, file, nil)
	}
	return err
}

// Import stores the session of a file as one of a directory here, and returns its ID. A session that is there already is
// an error.
func (r *Room) Import(ctx context.Context, file string, store *session.Store, dir string) (id string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("take up the session in %s: %w", wording.OSPath(file), err)
		}
	}()
	if err := r.Unbundle(ctx, file); err != nil {
		return "", err
	}
	p, err := r.Open(ctx)
	if err == nil && p.Session == "" {
		err = fmt.Errorf("there is no session in it: %w", ErrWrong)
	}
	if err != nil {
		return "", err
	}
	if session.Look(store.Path(p.Session)).Err == nil {
		return p.Session, hint.Errorf("codeloops resume "+p.Session, "session %s is here already", p.Session)
	}
	return p.Session, r.Unpack(ctx, p.Session, "", store, dir)
}

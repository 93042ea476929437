package parcel

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/session"
	"codeloops/internal/wording"
)

// largest is the limit for all files of a session.
const largest = 8 << 30

// plain matches valid names in data from elsewhere.
var plain = wording.Pattern(`^[0-9A-Za-z][0-9A-Za-z._-]{0,200}$`)

// A Parcel is the work on a task that a room has received.
type Parcel struct {
	Branch  string // the last commit on the task's branch; "" is the one that it began at
	Session string // its ID; "" is none

	room *Room
	task string
}

// Open returns the work on a task that the room has; nil is none.
func (r *Room) Open(ctx context.Context, task string) (*Parcel, error) {
	all, err := r.Refs(strings.TrimSuffix(refs, "/"))
	if err != nil {
		return nil, err
	}
	p := &Parcel{room: r, task: task, Branch: all[Branch]}
	if all[sessionRef] == "" {
		if p.Branch == "" {
			return nil, nil //nolint:nilnil // none is no error
		}
		return p, nil
	}
	names, err := r.Run(ctx, r.Root, "ls-tree", "-z", "--name-only", sessionRef)
	for name := range strings.SplitSeq(names, "\x00") {
		if id, is := strings.CutSuffix(name, logEnding); is && !strings.HasPrefix(name, besidePart) {
			p.Session = id
		}
	}
	if _, known := session.Began(p.Session); err == nil && !(known && plain().MatchString(p.Session)) {
		err = fmt.Errorf("the parcel of task %s has the session %q: %w", task, p.Session, ErrWrong)
	}
	return p, err
}

// GiveBranch gives a repository the task's branch, at a ref.
func (p *Parcel) GiveBranch(ctx context.Context, to, ref string) error {
	if p.Branch == "" {
		return nil
	}
	return p.room.Give(ctx, to, "+"+Branch+":"+ref)
}

// Unpack stores the session, as one of the work tree there. A session of another task with the same ID is not
// replaced, and is an error.
func (p *Parcel) Unpack(ctx context.Context, store *session.Store, workTree string) error {
	if p.Session == "" {
		return nil
	}
	if err := p.unpack(ctx, store, workTree); err != nil {
		return fmt.Errorf("unpack session %s: %w", p.Session, err)
	}
	return nil
}

func (p *Parcel) unpack(ctx context.Context, store *session.Store, workTree string) (err error) {
	if err := os.MkdirAll(store.Dir(), 0o700); err != nil {
		return err
	}
	if one := session.Look(store.Path(p.Session)); one.Err == nil && one.Session.Task != p.task {
		return fmt.Errorf("there is another one of that name: %w", ErrWrong)
	}
	root, err := os.OpenRoot(store.Dir())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // files written in it are closed already
	if err := root.Mkdir(p.Session+".d", 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	draft := p.Session + logEnding + ".draft"
	err = p.each(ctx, func(name string, text io.Reader) error {
		to := filepath.Join(p.Session+".d", strings.TrimPrefix(name, besidePart))
		if name == p.Session+logEnding {
			to = draft
			if text, err = p.relocated(text, workTree); err != nil {
				return err
			}
		}
		f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, text)
		return errors.Join(err, f.Sync(), f.Close())
	})
	if err == nil {
		err = p.giveCheckpoints(ctx, store, filepath.Join(store.Dir(), draft))
	}
	if err != nil {
		if gone := root.Remove(draft); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	}
	return root.Rename(draft, p.Session+logEnding)
}

// relocated returns a log with its first line changed for a work tree.
func (p *Parcel) relocated(log io.Reader, workTree string) (io.Reader, error) {
	in := bufio.NewReader(io.LimitReader(log, session.MaxLine))
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, session.ErrForeign
	}
	line, err = session.Relocate(line[:len(line)-1], p.Session, workTree)
	return io.MultiReader(strings.NewReader(string(line)), in, log), err
}

// each calls do with the files of the session.
func (p *Parcel) each(ctx context.Context, do func(name string, text io.Reader) error) error {
	all := filepath.Join(p.room.Root, "files.tar")
	call := git.Call{Dir: p.room.Root, Stdout: all, Settings: []string{"-c", "core.autocrlf=false", "-c", "core.attributesFile=" + os.DevNull}}
	if _, err := p.room.Do(ctx, call, "archive", "--format=tar", sessionRef); err != nil {
		return err
	}
	f, err := os.Open(all)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	var total int64
	for in := tar.NewReader(f); ; {
		h, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Typeflag == tar.TypeXGlobalHeader: // git's own
			continue
		}
		total += h.Size
		ours := h.Name == p.Session+logEnding || strings.HasPrefix(h.Name, besidePart)
		if h.Typeflag != tar.TypeReg || !ours || !plain().MatchString(h.Name) || total > largest {
			return fmt.Errorf("the file %q: %w", h.Name, ErrWrong)
		}
		if err := do(h.Name, in); err != nil {
			return err
		}
	}
}

// giveCheckpoints copies the checkpoints to the private repository that the log names.
func (p *Parcel) giveCheckpoints(ctx context.Context, store *session.Store, log string) error {
	one := session.Look(log)
	if one.Err != nil || one.Session.Task != p.task {
		return errors.Join(one.Err, fmt.Errorf("its log is of task %q: %w", one.Session.Task, ErrWrong))
	}
	all, err := p.room.Refs(checkpoints + p.Session)
	if err != nil || len(all) == 0 {
		return err
	}
	private := store.Checkpoints(one.Session.Checkpoints)
	if private == "" {
		return fmt.Errorf("its log names no place for its checkpoints: %w", ErrWrong)
	}
	shared, err := session.ShareCheckpoints(ctx, private)
	if err != nil {
		return err
	}
	defer shared.Close() //nolint:errcheck // a lock, which the system releases
	if _, err := OpenRoom(private, p.room.Starter, p.room.Environ); err != nil {
		return err
	}
	return p.room.Give(ctx, private, "+"+checkpoints+p.Session+"/*:"+checkpointsOf(p.Session)+"*")
}

package parcel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/queue/git"
	"codeloops/internal/session"
	"codeloops/internal/wording"
)

// A Parcel is the work on a task that a room has received.
type Parcel struct {
	Branch  string // the last commit on the task's branch; "" is the one that it began at
	Session string // its ID; "" is none
}

// plain matches valid names in data from elsewhere.
var plain = wording.Pattern(`^[0-9A-Za-z][0-9A-Za-z._-]{0,200}$`)

// Open returns the work on a task that the room has.
func (r *Room) Open(ctx context.Context) (p Parcel, err error) {
	all, err := r.Refs(refs)
	if p.Branch = all[Branch]; err != nil || all[sessionRef] == "" {
		return p, err
	}
	out, err := r.Run(ctx, r.Root, "ls-tree", "-r", "-z", "--name-only", sessionRef)
	if err != nil {
		return p, err
	}
	names := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for _, name := range names {
		if id, is := strings.CutSuffix(name, logEnding); is && plain().MatchString(id) {
			p.Session = id
		}
	}
	_, known := session.Began(p.Session)
	if !known || slices.ContainsFunc(names, func(name string) bool {
		return name != p.Session+logEnding && !plain().MatchString(strings.TrimPrefix(name, p.Session+folderEnding+"/"))
	}) {
		return p, fmt.Errorf("the session %q has the files %s: %w", p.Session, wording.List(names, 5), ErrWrong)
	}
	return p, nil
}

// Unpack stores the session with an ID, as one of a task and a work tree there. A session of another task with the same ID is
// not replaced, and is an error; "" is none.
func (r *Room) Unpack(ctx context.Context, id, task string, store *session.Store, workTree string) error {
	if id == "" {
		return nil
	}
	if err := r.unpack(ctx, id, task, store, workTree); err != nil {
		return fmt.Errorf("unpack session %s: %w", id, err)
	}
	return nil
}

func (r *Room) unpack(ctx context.Context, id, task string, store *session.Store, workTree string) (err error) {
	if one := session.Look(store.Path(id)); one.Err == nil && one.Session.Task != task {
		return fmt.Errorf("there is another one of that name: %w", ErrWrong)
	}
	draft := filepath.Join(r.Root, "session")
	if err := os.MkdirAll(draft, 0o700); err != nil {
		return err
	}
	if _, err := r.files(ctx, id, draft, "read-tree", "--reset", "-u", sessionRef); err != nil {
		return err
	}
	var settled session.Settled
	log := filepath.Join(draft, id+logEnding)
	if err := settled.Read(log); err != nil {
		return err
	}
	if is := settled.Session; settled.Size == 0 || is.ID != id || is.Task != task {
		return fmt.Errorf("its log is of session %q, of task %q: %w", is.ID, is.Task, ErrWrong)
	}
	if err := r.giveCheckpoints(ctx, id, store, settled.Session.Checkpoints); err != nil {
		return err
	}
	folder := strings.TrimSuffix(store.Path(id), logEnding) + folderEnding
	beside, err := os.ReadDir(filepath.Join(draft, id+folderEnding))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.MkdirAll(folder, 0o700)
	for _, e := range beside {
		if err == nil {
			err = copyFile(filepath.Join(folder, e.Name()), filepath.Join(draft, id+folderEnding, e.Name()), math.MaxInt64, nil)
		}
	}
	if err != nil {
		return err
	}
	return copyFile(store.Path(id), log, settled.Size, func(line []byte) ([]byte, error) { return session.Relocate(line, id, workTree) })
}

// copyFile replaces a file by the beginning of another one, whose first line may be changed.
func copyFile(to, from string, size int64, change func(line []byte) ([]byte, error)) error {
	return file.Replace(to, 0o600, func(w io.Writer) error {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // only read
		in := bufio.NewReader(io.LimitReader(f, size))
		if change != nil {
			line, err := in.ReadBytes('\n')
			if err == nil {
				line, err = change(line)
			}
			if err == nil {
				_, err = w.Write(line)
			}
			if err != nil {
				return err
			}
		}
		_, err = in.WriteTo(w)
		return err
	})
}

// giveCheckpoints copies the checkpoints to the private repository with a name.
func (r *Room) giveCheckpoints(ctx context.Context, id string, store *session.Store, name string) error {
	all, err := r.Refs(checkpoints + id + "/")
	if err != nil || len(all) == 0 {
		return err
	}
	dir := store.Checkpoints(name)
	if dir == "" {
		return fmt.Errorf("its log names no place for its checkpoints: %w", ErrWrong)
	}
	shared, err := session.ShareCheckpoints(ctx, dir)
	if err != nil {
		return err
	}
	defer shared.Close() //nolint:errcheck // a lock, which the system releases
	if err := git.Borrow(dir); err != nil {
		return err
	}
	return r.Give(ctx, dir, "+"+checkpoints+id+"/*:"+private+id+"/*")
}

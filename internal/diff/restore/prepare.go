package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"codeloops/internal/file"
	"codeloops/internal/wording"
)

// stagePrefix begins the name of a stage. Only its owner can read it, and git ignores it.
const stagePrefix = ".codeloops-restore-"

// prepare copies the current files and stages the new ones. All of it is synced to disk
// before anything is moved.
func (w *work) prepare(ctx context.Context, changes []PathChange) error {
	defer w.syncs.wait() //nolint:errcheck // where it matters, the error is looked at
	for i := range w.Moves {
		m := &w.Moves[i]
		err := w.at("keep")
		if err == nil {
			m.BeforePerm, m.BeforeSum, err = w.keepAs(ctx, string(m.Path), string(m.Path), m.Before)
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", wording.Path(string(w.Moves[i].Path)), err)
		}
	}
	if err := errors.Join(w.syncs.wait(), syncTree(w.files)); err != nil {
		return fmt.Errorf("keep what is there: %w", err)
	}
	for at := range w.Stages {
		err := w.at("stage")
		if err == nil {
			err = w.root.Mkdir(w.stage(at), 0o700)
		}
		if err == nil {
			err = w.root.WriteFile(path.Join(w.stage(at), ".gitignore"), []byte("*\n"), 0o600)
		}
		if err != nil {
			return err
		}
	}
	for i, c := range changes {
		if err := w.write(ctx, i, c.After); err != nil {
			return fmt.Errorf("write %s: %w", wording.Path(c.Path), err)
		}
	}
	if err := w.syncs.wait(); err != nil {
		return err
	}
	for at := range w.Stages {
		if err := errors.Join(syncIn(w.root, w.stage(at)), syncIn(w.root, string(w.Stages[at]))); err != nil {
			return err
		}
	}
	if err := w.at("begin to apply"); err != nil {
		return err
	}
	return w.save(applying)
}

// keepAs copies a file or a link of the work tree into the kept files. It ignores any other
// kind.
func (w *work) keepAs(ctx context.Context, from, to string, kind Kind) (perm fs.FileMode, sum string, err error) {
	switch kind {
	case Nothing, Place, other:
		return 0, "", nil
	case Link:
		target, err := readLink(w.root, from)
		if err == nil {
			err = w.files.MkdirAll(path.Dir(to), 0o700)
		}
		if err == nil {
			err = w.files.Symlink(target, to)
		}
		return 0, sumOf([]byte(target)), err
	case File:
	}
	in, err := openPlain(w.root, from)
	if err != nil {
		return 0, "", err
	}
	defer in.Close() //nolint:errcheck // only read
	info, err := in.Stat()
	if err != nil {
		return 0, "", err
	}
	sum, err = w.syncs.put(w.files, to, info.Mode().Perm(), file.Until(ctx, in))
	return info.Mode().Perm(), sum, err
}

// write writes a new file into the stage; for a link, a file with its target.
func (w *work) write(ctx context.Context, i int, to State) error {
	if err := w.at("write"); err != nil || to.Kind != File && to.Kind != Link {
		return err
	}
	in, err := to.Open(ctx)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	perm := to.Perm
	if to.Kind == Link {
		perm = 0o600
	}
	w.Moves[i].Sum, err = w.syncs.put(w.root, w.fresh(i), perm, file.Until(ctx, in))
	return err
}

// putFile writes a new file, with the directories above it, and syncs it. It is private until
// it is complete.
func putFile(root *os.Root, name string, perm fs.FileMode, in io.Reader) (sum string, err error) {
	var one syncs
	sum, err = one.put(root, name, perm, in)
	return sum, errors.Join(err, one.wait())
}

// syncs are files that are being synced and closed while others are written: syncing one after the
// other would take most of the time of a restore.
type syncs struct {
	running sync.WaitGroup
	mu      sync.Mutex
	open    int
	err     error
}

// atOnce is how many files may wait for the disk.
const atOnce = 64

// put is putFile, but the file is on disk only after wait.
func (s *syncs) put(root *os.Root, name string, perm fs.FileMode, in io.Reader) (sum string, err error) {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return "", err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, hash), in)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err != nil {
		return "", errors.Join(err, f.Close())
	}
	if s.open++; s.open > atOnce {
		if err := s.wait(); err != nil {
			return "", errors.Join(err, f.Close())
		}
		s.open = 1
	}
	s.running.Go(func() {
		err := errors.Join(f.Sync(), f.Close())
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = errors.Join(s.err, err)
	})
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// wait waits until all files are on disk.
func (s *syncs) wait() error {
	s.running.Wait()
	return s.err
}

package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"codeloops/internal/file"
)

// stagePrefix begins the name of a stage. Only its owner can read it, and git ignores it.
const stagePrefix = ".codeloops-restore-"

// prepare copies the current files and stages the new ones. All of it is synced to disk
// before anything is moved.
func (w *work) prepare(ctx context.Context) error {
	defer w.unsynced.sync() //nolint:errcheck // where it matters, the error is looked at
	err := w.each("keep ", func(_ int, m *move) (err error) {
		if err = w.at("keep"); err == nil {
			m.BeforePerm, m.BeforeSum, err = w.keepAs(ctx, string(m.Path), string(m.Path), m.Before)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := errors.Join(w.unsynced.sync(), w.syncKept()); err != nil {
		return fmt.Errorf("keep what is there: %w", err)
	}
	for at := range w.Stages {
		w.touched(string(w.Stages[at]))
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
	if err := w.each("write ", func(i int, m *move) error { return w.write(ctx, m, w.fresh(i)) }); err != nil {
		return err
	}
	if err := errors.Join(w.unsynced.sync(), w.sync()); err != nil {
		return err
	}
	if err := w.at("begin to apply"); err != nil {
		return err
	}
	return w.save(applying)
}

// keepAs copies a file or a link of the work tree into the kept files. It ignores any other kind.
func (w *work) keepAs(ctx context.Context, from, to string, kind Kind) (perm fs.FileMode, sum string, err error) {
	if kind != File && kind != Link {
		return 0, "", nil
	}
	in, perm, err := Read(w.root, from, kind)
	if err != nil {
		return 0, "", err
	}
	defer in.Close() //nolint:errcheck // only read
	sum, err = w.unsynced.put(w.files, to, kind, perm, file.Until(ctx, in))
	return perm, sum, err
}

// syncKept syncs the names of all kept files.
func (w *work) syncKept() error {
	return fs.WalkDir(w.files.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = syncIn(w.files, name)
		}
		return err
	})
}

// write writes a new file or link into the stage.
func (w *work) write(ctx context.Context, m *move, as string) error {
	if err := w.at("write"); err != nil || m.After != File && m.After != Link {
		return err
	}
	in, err := m.to.Open(ctx)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	m.Sum, err = w.unsynced.put(w.root, as, m.After, m.Perm, file.Until(ctx, in))
	return err
}

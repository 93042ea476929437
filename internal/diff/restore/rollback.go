package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"codeloops/internal/file"
	"codeloops/internal/wording"
)

// Recover finishes interrupted restores of a work tree: it rolls back those that were not
// complete, and cleans up after those that were. It returns a sentence about each.
func (k *Keep) Recover(ctx context.Context, workTree string) (told []string, err error) {
	err = k.each(openJournal, func(j *journal) error {
		if !same(j.WorkTree, workTree) {
			return nil
		}
		sentence, err := k.recover(ctx, j, workTree)
		told = append(told, sentence)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("finish an earlier restore: %w", err)
	}
	return told, nil
}

// same reports whether two paths name the same directory.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return a == b
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

func (k *Keep) recover(ctx context.Context, j *journal, workTree string) (string, error) {
	root, err := os.OpenRoot(workTree)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // what was written through it is synced
	w := &work{journal: j, root: root, dirty: make(map[string]bool), step: k.step}
	if w.Phase == done {
		err := w.finish(ctx)
		told := "the files were put back to " + j.Title + "; what was left behind has been removed"
		if w.later != nil {
			told += fmt.Sprintf("; what was saved at %s meanwhile is kept in %s", wording.Path(w.later[0]), w.keptFiles())
		}
		return told, err
	}
	err = w.rollBack(ctx)
	told := "putting the files back to " + j.Title + " was interrupted and has been undone"
	if stayed := w.stayed(); err == nil && stayed != nil {
		told += fmt.Sprintf(", except for %s, where there is something else now: the original is kept in %s", wording.Path(stayed[0]), w.keptFiles())
	}
	return told, err
}

// rollBack brings the original files back. It may be called again after an interruption.
func (w *work) rollBack(ctx context.Context) error {
	if w.Phase == applying {
		var errs []error
		for i := range slices.Backward(w.Moves) {
			errs = append(errs, w.takeAway(i))
		}
		for i := range w.Moves {
			m := &w.Moves[i]
			err := w.putBack(i)
			if err == nil && m.Stayed {
				err = w.keepLater(ctx, i, m)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", wording.Path(string(m.Path)), err))
			}
		}
		if err := errors.Join(append(errs, w.sync())...); err != nil {
			return err
		}
	}
	if err := w.clear(); err != nil {
		return err
	}
	if w.stayed() != nil {
		return w.save(kept)
	}
	if err := os.RemoveAll(w.keptFiles()); err != nil { // before the journal of them
		return err
	}
	return errors.Join(os.RemoveAll(w.dir), file.SyncDir(filepath.Dir(w.dir), (*os.File).Sync))
}

// takeAway removes what was put in place, unless somebody has changed it.
func (w *work) takeAway(i int) error {
	m := &w.Moves[i]
	m.Stayed = false
	if err := w.at("take away"); err != nil {
		return err
	}
	at := string(m.Path)
	if kind, err := w.kind(at); err != nil || kind != m.After || kind == Nothing {
		return nil //nolint:nilerr // it is not ours
	}
	w.touched(path.Dir(at))
	taken := at
	if m.After != Place {
		if sum, err := sumAt(w.root, at); err != nil || sum != m.Sum || !w.placed(i) {
			return err
		}
		taken = w.staged("taken-", i)
		if err := w.root.Rename(at, taken); err != nil {
			return err
		}
		if sum, err := sumAt(w.root, taken); err != nil || sum != m.Sum { // it was replaced after the check
			return errors.Join(err, link(w.root, taken, at))
		}
	}
	err := w.root.Remove(taken)
	w.prune(path.Dir(at), func(dir string) bool {
		_, was := w.wasDir(dir)
		return was
	})
	return err
}

// placed reports whether a file with the new content is ours, and not an old one that had
// the same content.
func (w *work) placed(i int) bool {
	m := w.Moves[i]
	if _, err := w.root.Lstat(w.fresh(i)); err == nil {
		return sameFile(w.root, string(m.Path), w.fresh(i))
	}
	_, err := w.root.Lstat(w.old(i)) // a file system without hard links
	return m.Before == Nothing || m.Sum != m.BeforeSum || err == nil
}

// putBack brings back what was at a path, from the stage or else from the copy.
func (w *work) putBack(i int) error {
	m := &w.Moves[i]
	if err := w.at("put back"); err != nil || m.Before == Nothing {
		return err
	}
	at, old := string(m.Path), w.old(i)
	kind, err := w.kind(at)
	if err != nil {
		return err
	}
	_, lost := w.root.Lstat(old) // or it was not moved
	switch {
	case kind != Nothing:
		was, errWas := sumAt(w.root, old)
		is, errIs := sumAt(w.root, at)
		m.Stayed = lost == nil && (was != is || errWas != nil || errIs != nil)
		return nil
	case lost != nil && m.Before == Place:
		return w.makeDir(at)
	case lost != nil:
		old = w.staged("again-", i)
		if err := w.stageCopy(*m, old); err != nil {
			return err
		}
	}
	if err = w.give(old, at); errors.Is(err, fs.ErrExist) {
		m.Stayed, err = true, nil
	}
	return err
}

// stageCopy stages the copy of what was at a path.
func (w *work) stageCopy(m move, as string) error {
	in, _, err := Read(w.files, string(m.Path), m.Before)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	if err := w.root.RemoveAll(as); err != nil {
		return err
	}
	_, err = w.unsynced.put(w.root, as, m.Before, m.BeforePerm, in)
	return errors.Join(err, w.unsynced.sync())
}

// finish cleans up after a restore. If a file was written to until it was moved aside, or
// later by a program that had it open, that version is kept instead of the earlier copy.
func (w *work) finish(ctx context.Context) error {
	err := w.each("keep ", func(i int, m *move) error { return w.keepLater(ctx, i, m) })
	if err == nil {
		err = w.clear()
	}
	if err != nil {
		return err
	}
	return w.save(kept)
}

// keepLater keeps what was moved aside, if that differs from the copy.
func (w *work) keepLater(ctx context.Context, i int, m *move) error {
	if err := w.at("compare"); err != nil {
		return err
	}
	sum, err := sumAt(w.root, w.old(i))
	if err != nil || sum == "" || sum == m.BeforeSum {
		return err
	}
	kind, err := kindAt(w.root, w.old(i))
	if err != nil {
		return err
	}
	later := path.Join(path.Dir(string(m.Path)), stagePrefix+w.Token)
	if err := w.files.RemoveAll(later); err != nil {
		return err
	}
	if m.BeforePerm, m.BeforeSum, err = w.keepAs(context.WithoutCancel(ctx), w.old(i), later, kind); err != nil {
		return err
	}
	m.Before, w.later = kind, append(w.later, string(m.Path))
	return errors.Join(w.unsynced.sync(), w.files.Rename(later, string(m.Path)), syncIn(w.files, path.Dir(string(m.Path))))
}

// clear removes the stages.
func (w *work) clear() error {
	var errs []error
	for at := range w.Stages {
		if err := w.at("clear"); err != nil {
			return err
		}
		errs = append(errs, w.root.RemoveAll(w.stage(at)), syncIn(w.root, string(w.Stages[at])))
	}
	return errors.Join(errs...)
}

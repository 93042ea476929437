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
	w := &work{journal: j, root: root, dirs: dirs{j.record, root, nil, make(map[string]bool)}, step: k.step}
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
			err := w.putBack(i)
			if err == nil && w.Moves[i].Stayed {
				err = w.keepLater(ctx, i)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", wording.Path(string(w.Moves[i].Path)), err))
			}
		}
		if err := errors.Join(append(errs, w.dirs.sync())...); err != nil {
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
	return errors.Join(os.RemoveAll(w.dir), syncDir(filepath.Dir(w.dir)))
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
	w.dirs.touched(path.Dir(at))
	if m.After == Place {
		err := w.root.Remove(at)
		w.dirs.prune(path.Dir(at), w.was)
		return err
	}
	if sum, err := sumAt(w.root, at); err != nil || sum != m.Sum || !w.placed(i) {
		return err
	}
	taken := w.staged("taken-", i)
	if err := w.root.Rename(at, taken); err != nil {
		return err
	}
	if sum, err := sumAt(w.root, taken); err != nil || sum != m.Sum { // it was replaced after the check
		return errors.Join(err, link(w.root, taken, at))
	}
	w.dirs.prune(path.Dir(at), w.was)
	return w.root.Remove(taken)
}

// placed reports whether a file with the new content is ours, and not an old one that had
// the same content.
func (w *work) placed(i int) bool {
	m := w.Moves[i]
	there, err := w.root.Lstat(string(m.Path))
	if err != nil {
		return false
	}
	if staged, err := w.root.Lstat(w.fresh(i)); err == nil && m.After == File {
		return os.SameFile(there, staged)
	}
	_, err = w.root.Lstat(w.old(i))
	return m.Before == Nothing || m.Sum != m.BeforeSum || err == nil
}

// putBack brings back what was at a path, from the stage or else from the copy.
func (w *work) putBack(i int) error {
	m := &w.Moves[i]
	if err := w.at("put back"); err != nil || m.Before == Nothing {
		return err
	}
	at := string(m.Path)
	kind, err := w.kind(at)
	if err != nil {
		return err
	}
	moved, _ := w.root.Lstat(w.old(i))
	if kind != Nothing {
		there, err := w.root.Lstat(at)
		m.Stayed = err == nil && moved != nil && !os.SameFile(there, moved) && !alike(w.root, w.old(i), at)
		return err
	}
	if err := w.dirs.make(path.Dir(at)); err != nil {
		return err
	}
	w.dirs.touched(path.Dir(at))
	if err = w.putOld(i, moved); errors.Is(err, fs.ErrExist) {
		m.Stayed, err = true, nil
	}
	return err
}

// putOld is putBack at a free path. Moved is what was moved aside, nil if the stage does not
// have it.
func (w *work) putOld(i int, moved fs.FileInfo) error {
	m := w.Moves[i]
	at := string(m.Path)
	switch {
	case moved == nil && m.Before == Place:
		return w.root.Mkdir(at, w.dirs.perm(at))
	case moved == nil && m.Before == Link:
		return copyLink(w.files, at, w.root, at)
	case moved == nil:
		return w.putCopy(i)
	case moved.IsDir():
		return w.root.Rename(w.old(i), at)
	case moved.Mode().Type() == fs.ModeSymlink:
		return copyLink(w.root, w.old(i), w.root, at)
	}
	return link(w.root, w.old(i), at)
}

func copyLink(from *os.Root, link string, to *os.Root, name string) error {
	target, err := from.Readlink(link)
	if err != nil {
		return err
	}
	return to.Symlink(target, name)
}

// link gives a staged file its name, if that is free. On a file system without hard links
// something that appears between the check and the rename is overwritten.
func link(root *os.Root, staged, to string) error {
	err := root.Link(staged, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, statErr := root.Lstat(to); statErr == nil {
		return fs.ErrExist
	}
	return root.Rename(staged, to)
}

// putCopy brings back a file from its copy.
func (w *work) putCopy(i int) error {
	m := w.Moves[i]
	in, err := openPlain(w.files, string(m.Path))
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	again := w.staged("again-", i)
	if err := w.root.RemoveAll(again); err != nil {
		return err
	}
	if _, err := putFile(w.root, again, m.BeforePerm, in); err != nil {
		return err
	}
	return link(w.root, again, string(m.Path))
}

// finish cleans up after a restore. If a file was written to until it was moved aside, or
// later by a program that had it open, that version is kept instead of the earlier copy.
func (w *work) finish(ctx context.Context) error {
	for i := range w.Moves {
		if err := w.keepLater(ctx, i); err != nil {
			return fmt.Errorf("keep %s: %w", wording.Path(string(w.Moves[i].Path)), err)
		}
	}
	if err := w.clear(); err != nil {
		return err
	}
	return w.save(kept)
}

// keepLater keeps what was moved aside, if that differs from the copy.
func (w *work) keepLater(ctx context.Context, i int) error {
	m := &w.Moves[i]
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
	return errors.Join(w.syncs.wait(), w.files.Rename(later, string(m.Path)), syncIn(w.files, path.Dir(string(m.Path))))
}

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

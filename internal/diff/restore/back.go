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

// Recover finishes a restore in a work tree that broke off: it undoes one that was not
// complete, and removes the leftovers of one that was. It returns sentences that say so.
func (k *Keep) Recover(ctx context.Context, workTree string) (told []string, err error) {
	err = k.each(openJournal, func(j *journal) error {
		if !same(j.WorkTree, workTree) {
			return nil
		}
		sentence, err := k.goOn(ctx, j, workTree)
		told = append(told, sentence)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("finish an earlier restore: %w", err)
	}
	return told, nil
}

// same reports whether two paths are of one directory.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return a == b
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

func (k *Keep) goOn(ctx context.Context, j *journal, workTree string) (string, error) {
	root, err := os.OpenRoot(workTree)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // what was written through it is synced
	w := &work{journal: j, root: root, step: k.step}
	if w.Phase == done {
		return "the files were put back to " + j.Title + "; what that left behind is cleared away", w.finish(context.WithoutCancel(ctx))
	}
	err = w.back()
	told := "putting the files back to " + j.Title + " had broken off and was undone"
	if stayed := w.stayed(); err == nil && stayed != nil {
		told = fmt.Sprintf("%s, but for %s, where something else has come up: what was there is kept in %s", told, wording.Path(stayed[0]), w.keptFiles())
	}
	return told, err
}

// back puts the files back that were there. It may be called again after it has broken
// off.
func (w *work) back() error {
	if w.Phase == applying {
		var errs []error
		for i := range slices.Backward(w.Moves) {
			errs = append(errs, w.takeAway(i))
		}
		for i := range w.Moves {
			if err := w.putBack(i); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", wording.Path(string(w.Moves[i].Path)), err))
			}
		}
		if err := errors.Join(append(errs, w.syncDirty())...); err != nil {
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

// takeAway removes what was put in place, as long as it is that.
func (w *work) takeAway(i int) error {
	m := &w.Moves[i]
	m.Stayed = false
	if err := w.at("take away"); err != nil {
		return err
	}
	at := string(m.Path)
	if kind, err := w.kind(at); err != nil || kind != m.After || kind == Nothing {
		return nil //nolint:nilerr // whatever is there, it is not ours
	}
	w.touched(path.Dir(at))
	if m.After == Place {
		err := w.root.Remove(at)
		w.prune(path.Dir(at), w.was)
		return err
	}
	if sum, err := sumAt(w.root, at); err != nil || sum != m.Sum || !w.placed(i) {
		return err
	}
	taken := w.staged("taken-", i)
	if err := w.root.Rename(at, taken); err != nil {
		return err
	}
	if sum, err := sumAt(w.root, taken); err != nil || sum != m.Sum { // it has become another in between
		return errors.Join(err, w.link(taken, at))
	}
	w.prune(path.Dir(at), w.was)
	return w.root.Remove(taken)
}

// placed reports whether what has the content that was to come was put there, and is
// not what had the same content before.
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

// putBack puts back what was at a path, from the stage or else from the copy.
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
		m.Stayed = err == nil && moved != nil && !os.SameFile(there, moved) && !w.alike(w.old(i), at)
		return err
	}
	if err := w.makeDirs(path.Dir(at)); err != nil {
		return err
	}
	w.touched(path.Dir(at))
	if err = w.putOld(i, moved); errors.Is(err, fs.ErrExist) {
		m.Stayed, err = true, nil
	}
	return err
}

// putOld is putBack where nothing stands, given what was moved aside; nil: it is lost.
func (w *work) putOld(i int, moved fs.FileInfo) error {
	m := w.Moves[i]
	at := string(m.Path)
	switch {
	case m.Before == Place:
		return w.root.Mkdir(at, w.dirPerm(at))
	case moved == nil && m.Before == Link:
		return copyLink(w.files, at, w.root, at)
	case moved == nil:
		return w.putCopy(i)
	case moved.IsDir():
		return w.root.Rename(w.old(i), at)
	case moved.Mode().Type() == fs.ModeSymlink:
		return copyLink(w.root, w.old(i), w.root, at)
	}
	return w.link(w.old(i), at)
}

func copyLink(from *os.Root, link string, to *os.Root, name string) error {
	target, err := from.Readlink(link)
	if err != nil {
		return err
	}
	return to.Symlink(target, name)
}

// putCopy puts back a file that the stage has lost.
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
	return w.link(again, string(m.Path))
}

// finish clears up behind a restore that is done. What was written to a file until it
// was moved aside, or to an open one until now, is what is kept of it.
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

// keepLater keeps what was moved aside if it is no longer what was copied.
func (w *work) keepLater(ctx context.Context, i int) error {
	m := &w.Moves[i]
	if err := w.at("compare"); err != nil || m.Before != File && m.Before != Link {
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
	later := string(m.Path) + stagePrefix + "later"
	if err := w.files.RemoveAll(later); err != nil {
		return err
	}
	if m.BeforePerm, m.BeforeSum, err = w.keepAs(ctx, w.old(i), later, kind); err != nil {
		return err
	}
	m.Before, w.later = kind, append(w.later, string(m.Path))
	return errors.Join(w.files.Rename(later, string(m.Path)), syncIn(w.files, path.Dir(string(m.Path))))
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

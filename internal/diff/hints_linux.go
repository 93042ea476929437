package diff

import (
	"errors"

	"codeloops/internal/diff/hint"
	"codeloops/internal/diff/scan"
)

// hints tell which directories need not be looked at again. They begin after a
// state has been found, and hold once all directories of a later one have been
// watched since before they were read.
type hints struct {
	watcher *hint.Watcher // nil while there is none
	never   bool          // there cannot be one
	whole   *scan.Dir     // the state that they are of; nil while they do not hold
}

// ask takes notice, before a scan, of what has changed, and has the scanner
// watch the directories that it reads. It returns the directories in which
// nothing has changed since the last state; nil when that is not known.
func (h *hints) ask(s *scan.Scanner, k scan.Known) (quiet func(dir string) bool) {
	whole := h.whole
	h.whole = nil // until this scan has gone well
	if h.watcher == nil || !h.watcher.Ready() {
		return nil
	}
	changed, err := h.watcher.Changed()
	if err != nil {
		h.never = errors.Is(err, hint.ErrUnavailable)
		h.close()
		return nil
	}
	s.Watch, s.Unsure = h.watcher.Watch, h.watcher.Unsure
	if whole == nil || whole != k.Last || !k.Same {
		return nil
	}
	return func(dir string) bool { return !changed[dir] }
}

// follow takes note of a state that a scan has found, by a scanner that ask has
// prepared.
func (h *hints) follow(s *scan.Scanner, root *scan.Dir) {
	if h.watcher != nil && s.Watch != nil {
		h.whole = root
	}
}

// begin watches the directories of a state, in the background: that takes some
// time where there are many.
func (h *hints) begin(path string, root *scan.Dir) {
	if h.watcher != nil || h.never {
		return
	}
	w, err := hint.New(path)
	if err != nil {
		h.never = true
		return
	}
	h.watcher = w
	w.Prepare(directories(root))
}

func (h *hints) close() {
	if h.watcher != nil {
		h.watcher.Close()
		h.watcher = nil
	}
}

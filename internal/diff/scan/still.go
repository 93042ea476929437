package scan

import "context"

// still reports whether a plain directory is what it was at the last scan, the stats
// of its files included. Most directories are that, and need no visit then. A visit
// can find that of others, too.
func (w *walk) still(ctx context.Context, t task, s *scratch) bool {
	if w.known.Quiet != nil || !t.plain() || ctx.Err() != nil {
		return false
	}
	d, path := t.last, ""
	if w.Watch != nil || !t.above.handle.isOpen() {
		t.locate()
		w.watch(t.path)
		path = w.absolute(t.place)
	}
	h := &s.handle
	h.reset(path, t.name, &t.above.handle, w.clock.local)
	kept := w.keeper.find(h, d, true)
	st, k, err := h.glance(w.keeper.opens(kept))
	if err != nil || k != directory || st != d.listing.stat || !h.unmoved(&d.files) || h.shared && w.Unsure != nil {
		h.close()
		return false
	}
	w.keeper.found(w.keeper.keep(h, kept), d, d)
	h.close()
	return true
}

// plain reports whether all that was in a directory is some files, and what is in
// scope there is what it was. Many files are not to be looked at twice.
func (p *place) plain() bool {
	const some = 50
	return p.again && len(p.last.Dirs) == 0 && p.last.files.len() <= some && p.last.listing.others == "" && !p.last.listing.hasGit
}

// unmoved reports whether the files of the directory are what is known of them.
func (h *handle) unmoved(files *fileList) bool {
	if saved := files.saved; saved != nil {
		for c := saved.each(); c.next(); {
			if f := c.file(); !h.has(&f) {
				return false
			}
		}
		return true
	}
	for i := range files.list {
		if !h.has(&files.list[i]) {
			return false
		}
	}
	return true
}

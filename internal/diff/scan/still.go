package scan

import "context"

// still reports whether a plain directory is what it was at the last scan, the stats
// of its files included. Most directories are that, and need no visit then. A visit
// can find that of others, too.
func (w *walk) still(ctx context.Context, t task, s *scratch) bool {
	if !t.plain() || ctx.Err() != nil {
		return false
	}
	d, path := t.last, ""
	if !t.above.handle.isOpen() {
		t.locate()
		path = w.absolute(t.place)
	}
	h := &s.handle
	h.reset(path, t.name, &t.above.handle)
	defer h.close()
	st, k, err := h.glance(false)
	return err == nil && k == directory && st == d.listing.stat && h.unmoved(d.files)
}

// plain reports whether all that was in a directory is some files, and what is in
// scope there is what it was. Many files are not to be looked at twice.
func (p *place) plain() bool {
	const some = 50
	return p.again && len(p.last.Dirs) == 0 && len(p.last.files) <= some && p.last.listing.others == "" && !p.last.listing.hasGit
}

// unmoved reports whether the files of the directory are what is known of them.
func (h *handle) unmoved(files []File) bool {
	for i := range files {
		if !h.has(&files[i]) {
			return false
		}
	}
	return true
}

package scan

import (
	"maps"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"codeloops/internal/diff/ground"
)

// Kept are directories of one work tree that stay open from scan to scan. What
// is asked of one, and of the files in it, then needs no path, of which the system
// spends a tenth of a scan that finds nothing new.
//
// An open directory is the one at its path as long as the one above has not
// changed: a name that comes to stand for another changes the times of the
// directory that it is in. When there is anything else on which the work tree
// stands, all are closed; and what is not in the root's own volume is not kept.
//
// The zero value keeps none yet. One scan may use it at a time.
type Kept struct {
	ground *ground.Ground    // of all of them; nil while there are none
	dirs   map[*Dir]*openDir // by what was last found in them
	scan   int               // the number of the last scan
	most   int               // may be open
}

// An openDir is a directory that is open, though not to be listed.
type openDir struct {
	fd   int
	scan int // the last one that found it unchanged; 0 when one has found it otherwise
}

// Close closes the directories. Another scan may open some again.
func (k *Kept) Close() {
	if k.ground == nil {
		return
	}
	k.drop(func(*openDir) bool { return true })
	k.ground.Close()
	k.ground = nil
}

func (k *Kept) drop(which func(*openDir) bool) {
	maps.DeleteFunc(k.dirs, func(_ *Dir, d *openDir) bool {
		if !which(d) {
			return false
		}
		_ = unix.Close(d.fd)
		return true
	})
}

// begin begins a scan. It returns nil if directories do not stay open: to open
// one takes longer than it spares the next scan, so the first one of a process
// opens none.
func (k *Kept) begin(w *walk) *keeper {
	if k == nil {
		return nil
	}
	again := w.clock.local && w.known.Last != nil && !w.known.Foreign
	if !again || k.ground != nil && k.ground.Changed() {
		k.Close()
	}
	if !again || k.ground == nil && !k.open(w.Root) {
		return nil
	}
	k.scan++
	return &keeper{Kept: k}
}

// maxKept is how many directories stay open at most, if a quarter of the files
// that the process may open besides those of a scan is not less: each process that
// it starts begins with a copy of the table of them.
const maxKept = 4_096

func (k *Kept) open(root string) bool {
	const others = 2 * maxHeld
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur <= others {
		return false
	}
	under, err := ground.Open(root)
	if err != nil {
		return false
	}
	k.ground, k.dirs, k.most = under, make(map[*Dir]*openDir), int(min((limit.Cur-others)/4, maxKept))
	return true
}

// A keeper is a Kept during one scan. May be nil.
type keeper struct {
	*Kept
	more atomic.Int32 // directories than before the scan
	// asked and stayed are how many of those that were open were looked for, and
	// found unchanged.
	asked, stayed atomic.Int32

	mu    sync.Mutex
	moved []keptAs
}

// A keptAs is a directory that is kept from now on, or as another state of it.
type keptAs struct {
	was, is *Dir
	open    *openDir
}

// find lends the handle of a directory the open one, if there is one and the
// directory above is what it was: only then is it the one at its path.
func (k *keeper) find(h *handle, last *Dir, again bool) *openDir {
	if k == nil || last == nil {
		return nil
	}
	d := k.dirs[last]
	if d == nil {
		return nil
	}
	k.asked.Add(1)
	d.scan = 0 // even if this scan comes to the same state: it may be of another directory
	if !again {
		return nil
	}
	h.fd, h.bare, h.lent = d.fd, true, true
	return d
}

// opens reports whether a directory, which may be kept already, is worth to be
// open: it will stay so, if it has not changed.
func (k *keeper) opens(kept *openDir) bool { return k != nil && (kept != nil || k.room()) }

func (k *keeper) room() bool { return int(k.more.Load()) < k.most-len(k.dirs) }

// keep has the open directory of a handle stay open, if it does not already, and
// returns it; nil if it does not. It is one that has not changed, which is not
// likely to before the next scan.
func (k *keeper) keep(h *handle, kept *openDir) *openDir {
	switch {
	case k == nil || !h.bare:
		return nil
	case kept != nil:
		return kept
	case !k.room() || !k.ground.Holds(h.fd):
		return nil
	}
	k.more.Add(1)
	h.lent = true
	return &openDir{fd: h.fd}
}

// found takes note of what a directory that stays open was, and is.
func (k *keeper) found(kept *openDir, was, is *Dir) {
	switch {
	case kept == nil:
		return
	case k.dirs[is] == kept: // it is what it was
		kept.scan = k.scan
		k.stayed.Add(1)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.moved = append(k.moved, keptAs{was: was, is: is, open: kept})
}

// end ends the scan. Directories that it found otherwise are closed, and those
// that it did not find any more, unless it has not looked at all.
func (k *keeper) end(all bool) {
	if k == nil {
		return
	}
	expected := int(k.asked.Load())
	if all {
		expected = len(k.dirs)
	}
	if int(k.stayed.Load()) == expected && len(k.moved) == 0 {
		return
	}
	for _, d := range k.moved {
		if k.dirs[d.was] == d.open {
			delete(k.dirs, d.was)
		}
		if before := k.dirs[d.is]; before != nil { // the one above had changed
			_ = unix.Close(before.fd)
		}
		d.open.scan = k.scan
		k.dirs[d.is] = d.open
	}
	k.drop(func(d *openDir) bool { return d.scan == 0 || all && d.scan != k.scan })
}

package proc

import "sync"

const (
	// watchChunk is the most that a watch gets at once, in bytes.
	watchChunk = 32 << 10
	// maxWaiting bounds what waits for a slow watch, in bytes: a command that
	// prints more has to wait as well.
	maxWaiting = 4 << 20
	// idleBatch is how much of its room an emptied batch keeps.
	idleBatch = 256 << 10
)

// A relay hands on to a watch what streams take in, so that these need not wait
// for it.
type relay struct {
	watch func(stream string, chunk []byte)
	done  chan struct{}

	mu      sync.Mutex
	changed sync.Cond // with mu
	waiting batch
	hurry   bool // nobody waits for the watch any more
	over    bool // nothing is put any more
}

// A batch is a text of several streams, in the order in which it came.
type batch struct {
	text  []byte
	parts []part
}

type part struct {
	stream string
	size   int
}

// startRelay begins to hand on. The caller must call finish.
func startRelay(watch func(string, []byte)) *relay {
	r := &relay{watch: watch, done: make(chan struct{})}
	r.changed.L = &r.mu
	go r.run()
	return r
}

// put takes the next piece of a stream, which stays the caller's.
func (r *relay) put(stream string, chunk []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting.text) >= maxWaiting && !r.hurry {
		r.changed.Wait()
	}
	b := &r.waiting
	b.text = append(b.text, chunk...)
	if last := len(b.parts) - 1; last >= 0 && b.parts[last].stream == stream {
		b.parts[last].size += len(chunk)
	} else {
		b.parts = append(b.parts, part{stream, len(chunk)})
	}
	r.changed.Broadcast()
}

// rush lets put return at once from now on: what is still to come is little.
func (r *relay) rush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hurry = true
	r.changed.Broadcast()
}

// finish returns when the watch has taken everything.
func (r *relay) finish() {
	r.mu.Lock()
	r.over = true
	r.changed.Broadcast()
	r.mu.Unlock()
	<-r.done
}

func (r *relay) run() {
	defer close(r.done)
	var b batch
	for {
		b = r.next(b)
		if len(b.parts) == 0 {
			return
		}
		text := b.text
		for _, p := range b.parts {
			for p.size > 0 {
				n := min(p.size, watchChunk)
				r.watch(p.stream, text[:n])
				text, p.size = text[n:], p.size-n
			}
		}
	}
}

// next waits for something to hand on and returns it; nothing is the end. The
// batch that has been handed on is filled anew meanwhile.
func (r *relay) next(used batch) batch {
	if cap(used.text) > idleBatch {
		used.text = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting.parts) == 0 && !r.over {
		r.changed.Wait()
	}
	full := r.waiting
	r.waiting = batch{used.text[:0], used.parts[:0]}
	r.changed.Broadcast()
	return full
}

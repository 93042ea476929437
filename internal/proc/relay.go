package proc

import (
	"slices"
	"sync"
)

const (
	// watchChunk is how many bytes a watch gets at once at most: a follower sees only the
	// beginning of a long text.
	watchChunk = 32 << 10
	// maxWaiting bounds the output that waits for a slow watch, in bytes. A command that
	// prints more has to wait as well.
	maxWaiting = 4 << 20
)

// A relay passes what the streams read on to a watch, so that they need not wait for it.
type relay struct {
	watch   func(stream string, chunk []byte)
	running sync.WaitGroup

	mu      sync.Mutex
	changed sync.Cond // with mu
	waiting []piece   // in the order of arrival
	size    int       // bytes in waiting
	hurry   bool      // put no longer waits for the watch
	over    bool      // nothing more is put
}

type piece struct {
	stream string
	text   []byte
}

// startRelay starts a relay. The caller must call finish.
func startRelay(watch func(string, []byte)) *relay {
	r := &relay{watch: watch}
	r.changed.L = &r.mu
	r.running.Go(r.run)
	return r
}

// put copies the next piece of a stream.
func (r *relay) put(stream string, chunk []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.size >= maxWaiting && !r.hurry {
		r.changed.Wait()
	}
	if last := len(r.waiting) - 1; last < 0 || r.waiting[last].stream != stream {
		r.waiting = append(r.waiting, piece{stream: stream})
	}
	p := &r.waiting[len(r.waiting)-1]
	p.text = append(p.text, chunk...)
	r.size += len(chunk)
	r.changed.Broadcast()
}

// rush makes put return at once from now on: little is still to come.
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
	r.running.Wait()
}

func (r *relay) run() {
	for pieces := r.next(); len(pieces) > 0; pieces = r.next() {
		for _, p := range pieces {
			for chunk := range slices.Chunk(p.text, watchChunk) {
				r.watch(p.stream, chunk)
			}
		}
	}
}

// next waits for output and returns it; it returns nothing at the end.
func (r *relay) next() []piece {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting) == 0 && !r.over {
		r.changed.Wait()
	}
	pieces := r.waiting
	r.waiting, r.size = nil, 0
	r.changed.Broadcast()
	return pieces
}

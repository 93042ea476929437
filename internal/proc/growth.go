package proc

import (
	"sync"
	"time"
)

const (
	// watchPeriod is how long what is written may wait to be looked at.
	watchPeriod = 25 * time.Millisecond
	// doubtPeriod is how often files are looked at whose writes the system tells
	// of, in case that it did not.
	doubtPeriod = time.Second
)

// A lookout tells when the files of commands grow. An agent is silent for most
// of its turn, and to look at its files all the while costs more than to read
// them. There is one lookout for all commands: on Linux the end of one takes
// some ten milliseconds, in the kernel.
type lookout struct {
	writes *writes // nil: the system does not tell
	over   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	growths map[*growth]bool
}

// A growth tells of the files of one command.
type growth struct {
	text   chan struct{} // for who reads the files
	sizes  chan struct{} // for who measures them
	period time.Duration // how often to look at them besides
}

func newLookout() *lookout {
	l := &lookout{over: make(chan struct{}), done: make(chan struct{}), growths: map[*growth]bool{}}
	l.writes, _ = watchWrites() // where it cannot, there is a growth's period
	if l.writes == nil {
		close(l.done)
		return l
	}
	go l.listen()
	return l
}

// follow begins to tell of files, until forget is called.
func (l *lookout) follow(files []*stream) (g *growth, forget func()) {
	g = &growth{text: make(chan struct{}, 1), sizes: make(chan struct{}, 1), period: watchPeriod}
	if l.writes == nil {
		return g, func() {}
	}
	watches, err := l.writes.add(files)
	if err != nil {
		return g, func() {}
	}
	g.period = doubtPeriod
	g.tell() // of what was written before
	l.mu.Lock()
	defer l.mu.Unlock()
	l.growths[g] = true
	return g, func() {
		l.writes.drop(watches)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.growths, g)
	}
}

// listen passes on the first of several writes at once, and the others
// together.
func (l *lookout) listen() {
	defer close(l.done)
	for l.writes.wait() == nil {
		l.tell()
		select {
		case <-time.After(watchPeriod):
		case <-l.over:
			return
		}
	}
}

// tell tells everybody: whose file it was is not worth keeping books on.
func (l *lookout) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for g := range l.growths {
		g.tell()
	}
}

func (g *growth) tell() {
	for _, ear := range []chan struct{}{g.text, g.sizes} {
		select {
		case ear <- struct{}{}:
		default: // nobody has looked since the last time
		}
	}
}

// close may be called once, when nothing is followed any more.
func (l *lookout) close() {
	close(l.over)
	if l.writes != nil {
		l.writes.close()
	}
	<-l.done
}

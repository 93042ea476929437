package live

import (
	"sync"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// A Keyboard passes keys to a screen, and lends the terminal to others who need to read from it or
// write to it.
type Keyboard struct {
	*Screen
	Streams *term.Streams
	To      Steerer
	// Pager shows a text until the user has read it.
	Pager func(text string) error

	mu   sync.Mutex
	over bool // nobody reads any more
	lent int
	end  func() // stops reading; nil: nobody reads
}

// Open begins to read keys.
func (k *Keyboard) Open() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = false
	k.read()
}

func (k *Keyboard) read() {
	if k.Keys && k.end == nil && k.lent == 0 && !k.over {
		l := term.Listener{Press: func(key string) { k.Press(key, k.To, k.page) }, Paste: k.Paste, Stops: k.stops}
		if !k.Plain {
			l.Mark = k.mark
		}
		k.end = k.Streams.OnKeys(l)
	}
}

// mark sends the terminal a control sequence and waits until it is written: somebody else may use
// the terminal next.
func (k *Keyboard) mark(sequence string) {
	k.pump.put([]byte(sequence))
	_ = k.pump.drain() // the screen reports its error
}

// Handle implements [loop.Sink]. When the run is over, keys belong to the shell again, unless it was resumed after that.
func (k *Keyboard) Handle(at loop.Stamp, e loop.Event) error {
	if _, over := e.(loop.Finished); over {
		k.Close()
	}
	if _, again := e.(loop.Resumed); again {
		k.Open()
	}
	return k.Screen.Handle(at, e)
}

// Close stops reading keys.
func (k *Keyboard) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	k.rest()
}

func (k *Keyboard) rest() {
	if k.end != nil {
		k.end()
		k.end = nil
	}
}

// Lend gives the terminal to somebody who asks the user, until back is called.
func (k *Keyboard) Lend() (back func()) { return k.lend(k.Freeze) }

func (k *Keyboard) lend(away func() func()) (back func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lent++
	k.rest()
	again := away()
	return sync.OnceFunc(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		again()
		k.lent--
		k.read()
	})
}

// page shows a text. It must not be called while a key is handled.
func (k *Keyboard) page(text string) {
	defer k.lend(k.Hide)()
	if err := k.Pager(text); err != nil {
		defer k.Change()
		k.Screen.mu.Lock()
		defer k.Screen.mu.Unlock()
		k.say(err.Error())
	}
}

// stops gives the terminal to the shell while the process is stopped; the agent keeps working.
func (k *Keyboard) stops() (goesOn func()) {
	_, _ = k.Write([]byte("the agent keeps working; fg shows it again\n")) // the next write reports the error
	return k.Hide()
}

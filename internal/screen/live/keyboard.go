package live

import (
	"sync"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// A Keyboard hands the keys that are pressed to a screen, and takes care that nobody else reads
// from the terminal or draws on it meanwhile.
type Keyboard struct {
	*Screen
	Streams *term.Streams
	To      Steerer
	// Pager shows a text until the user has read it.
	Pager func(text string) error

	mu   sync.Mutex
	lent int
	end  func() // ends the reading; nil: nobody reads
}

// Open begins to read keys.
func (k *Keyboard) Open() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read()
}

func (k *Keyboard) read() {
	if k.Keys && k.end == nil && k.lent == 0 {
		l := term.Listener{Press: func(key string) { k.Press(key, k.To, k.page) }, Paste: k.Paste, Stops: k.stops}
		if !k.Plain {
			l.Mark = k.mark
		}
		k.end = k.Streams.OnKeys(l)
	}
}

// mark tells the terminal what is not shown, and waits until it knows: it may be somebody else's next.
func (k *Keyboard) mark(sequence string) {
	k.pump.put([]byte(sequence))
	_ = k.pump.drain() // its error is the screen's
}

// Handle implements [loop.Sink]. When the run is over, what is typed is the shell's.
func (k *Keyboard) Handle(at loop.Stamp, e loop.Event) error {
	if _, over := e.(loop.Finished); over {
		k.Close()
	}
	return k.Screen.Handle(at, e)
}

// Close ends the reading.
func (k *Keyboard) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lent++ // for good
	k.rest()
}

func (k *Keyboard) rest() {
	if k.end != nil {
		k.end()
		k.end = nil
	}
}

// Lend leaves the terminal to somebody who asks the user, until what is returned is called.
func (k *Keyboard) Lend() (back func()) { return k.lend(k.Still) }

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
		defer k.change()
		k.Screen.mu.Lock()
		defer k.Screen.mu.Unlock()
		k.say(err.Error())
	}
}

// stops leaves the terminal to the shell, which goes on while the agent works.
func (k *Keyboard) stops() (goesOn func()) {
	_, _ = k.Write([]byte("the agent works on; fg shows it again\n")) // the terminal tells the next one
	return k.Hide()
}

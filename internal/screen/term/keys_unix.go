//go:build linux || darwin

package term

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/muesli/cancelreader"
	"golang.org/x/sys/unix"
)

// now and then it is looked whether a terminal has become this process's again, or was
// put back by somebody else: nobody tells.
const nowAndThen = time.Second

// Keys reads single keys from a terminal, without their showing on it and
// without waiting for the end of a line. Keys that make signals go on doing so, unless
// they are taken, too: when the process is stopped or quits, the terminal is put back first.
type Keys struct {
	typing
	fd    int
	all   bool // keys that make signals are read, too
	there cancelreader.CancelReader
	hold  *Hold // nil: signals are somebody else's
	quits chan os.Signal
	ended sync.WaitGroup

	cooked unix.Termios // what the terminal is put back to
	raw    bool
	from   Listener
}

// ReadKeys begins to read keys from In; ok is false where that is no terminal.
// The caller closes what it gets.
func (s *Streams) ReadKeys(l Listener) (k *Keys, ok bool) {
	f, isFile := s.In.(*os.File)
	if !isFile || !isTerminal(f) {
		return nil, false
	}
	k, err := newKeys(f)
	if err != nil {
		return nil, false
	}
	k.from, k.guesses, k.hold, k.quits = l, l.Paste != nil, s.Jobs.Hold(), make(chan os.Signal, 1)
	signal.Notify(k.quits, unix.SIGQUIT)
	k.prepare()
	k.ended.Go(k.run)
	return k, true
}

// TakeKeys begins to read all keys from a terminal, those that make signals, too. The caller
// closes what it gets, before the process is stopped as well.
func TakeKeys(terminal *os.File) (*Keys, error) {
	k, err := newKeys(terminal)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	k.all = true
	k.set() // in the background the system stops the process for it, until the terminal is its own
	k.ended.Go(k.run)
	return k, nil
}

func newKeys(terminal *os.File) (*Keys, error) {
	there, err := cancelreader.NewReader(untouched{terminal})
	return &Keys{typing: newTyping(), fd: int(terminal.Fd()), there: there}, err
}

// An untouched terminal has nothing read from it when there is something to read.
type untouched struct{ *os.File }

// Read implements [io.Reader].
func (untouched) Read([]byte) (int, error) { return 0, nil }

// Close puts the terminal back as it was.
func (k *Keys) Close() {
	close(k.stop)
	k.there.Cancel()
	k.ended.Wait()
	_ = k.there.Close()
	k.restore()
	if k.hold != nil {
		signal.Stop(k.quits)
		k.hold.Release()
	}
}

func (k *Keys) run() {
	defer close(k.pressed)
	typed, more := make(chan struct{}, 1), make(chan struct{}, 1)
	k.ended.Go(func() { k.await(typed, more) })
	defer close(more)
	for waits := false; ; {
		mine, gone := k.foreground()
		if gone {
			return
		}
		if k.prepare(); mine && !waits {
			more <- struct{}{}
			waits = true
		}
		pause := nowAndThen
		if k.unsettled() {
			pause = between
		}
		select {
		case <-k.stop:
			return
		case s := <-k.signals():
			k.obey(s)
		case <-k.quits:
			k.quit()
		case <-typed:
			waits = false
			k.look()
		case <-time.After(pause):
			k.look()
		}
	}
}

// await waits, as often as it is asked to, until there is something to read.
func (k *Keys) await(typed chan<- struct{}, more <-chan struct{}) {
	for range more {
		if _, err := k.there.Read(nil); err != nil {
			return
		}
		typed <- struct{}{}
	}
}

func (k *Keys) signals() <-chan os.Signal {
	if k.hold == nil {
		return nil
	}
	return k.hold.Signals()
}

// obey stops the process if a signal asks for that. After one that it knows of only
// afterwards, the terminal is prepared anew.
func (k *Keys) obey(s os.Signal) {
	if !IsStop(s) || !resumable() {
		return
	}
	goesOn := func() {}
	if k.from.Stops != nil {
		goesOn = k.from.Stops()
	}
	k.restore()
	k.hold.stop(unix.Getpid(), k.stop)
	goesOn()
}

// look takes the keys that there are. In the background it takes none: it would
// be stopped for that.
func (k *Keys) look() {
	k.prepare()
	if mine, _ := k.foreground(); !k.raw || !mine {
		return
	}
	if sent := k.read(); sent != "" {
		k.take(sent)
	} else {
		k.whole()
	}
}

// read returns what can be read at once. A process may have been stopped since it looked at
// the modes of its terminal, and the shell have put that back: a read with nothing there
// would wait for a line.
func (k *Keys) read() string {
	var sent [4096]byte // more does not wait (n_tty)
	if there, err := unix.IoctlGetInt(k.fd, askReadable); err != nil || there == 0 {
		return ""
	}
	n, err := unix.Read(k.fd, sent[:])
	if err != nil {
		return ""
	}
	return string(sent[:max(n, 0)])
}

// quit does what SIGQUIT does by itself, with the terminal put back. The call
// returns before it has happened: until then nothing may take the terminal again.
func (k *Keys) quit() {
	k.restore()
	signal.Reset(unix.SIGQUIT)
	_ = unix.Kill(unix.Getpid(), unix.SIGQUIT)
	<-k.stop
}

// prepare makes the terminal hand over keys one by one, unless it does or
// belongs to somebody else at the moment. What a SIGSTOP has stopped finds the terminal as
// the shell has put it: a read would wait for a line.
func (k *Keys) prepare() {
	if mine, _ := k.foreground(); mine {
		k.set()
	}
}

// set is prepare, whoever the terminal belongs to. A read waits for one key, as [Keys.read] never
// has to: if this process is killed, whoever has the terminal next would take one that
// returns at once with nothing for the end of the input, and a shell would leave.
func (k *Keys) set() {
	modes, err := unix.IoctlGetTermios(k.fd, readModes)
	if err != nil || k.raw && modes.Lflag&unix.ICANON == 0 && modes.Cc[unix.VMIN] == 1 {
		return
	}
	k.cooked = *modes
	modes.Lflag &^= unix.ICANON | unix.ECHO
	if k.all {
		modes.Lflag &^= unix.ISIG | unix.IEXTEN
		modes.Iflag &^= unix.IXON
	}
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	if k.raw = unix.IoctlSetTermios(k.fd, writeModes, modes) == nil; k.raw {
		k.mark(PasteOn)
	}
}

func (k *Keys) mark(sequence string) {
	if k.from.Mark != nil {
		k.from.Mark(sequence)
	}
}

// restore puts the terminal back. One that belongs to somebody else has been
// put back by the shell.
func (k *Keys) restore() {
	if mine, _ := k.foreground(); k.raw && mine {
		k.mark(PasteOff)
		_ = unix.IoctlSetTermios(k.fd, writeModes, &k.cooked)
	}
	k.raw = false
}

// foreground reports whether this process may use the terminal, and whether that is there no
// more. One that does not control this process knows no background: whoever takes all keys of
// it has no rival there.
func (k *Keys) foreground() (mine, gone bool) {
	group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp() || k.all && errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EIO)
}

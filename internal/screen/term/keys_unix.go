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

// pollInterval is how often to check whether the terminal is in the foreground again or was reset by
// somebody else, as no signal tells.
const pollInterval = time.Second

// Keys reads single keys from a terminal, without echo. Keys that send signals keep doing so unless
// TakeKeys reads them, too: the terminal is restored before the process is stopped or quits.
type Keys struct {
	keySplitter
	fd    int
	all   bool // keys that send signals are read, too
	there cancelreader.CancelReader
	hold  *Hold // nil: somebody else handles signals
	stops <-chan os.Signal
	quits chan os.Signal
	ended sync.WaitGroup

	cooked unix.Termios // the modes to restore
	raw    bool
	from   Listener
}

// ReadKeys begins to read keys from In; ok is false if that is no terminal. The caller must close
// the result.
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
	k.stops = k.hold.Signals()
	signal.Notify(k.quits, unix.SIGQUIT)
	k.prepare()
	k.ended.Go(k.run)
	return k, true
}

// TakeKeys begins to read all keys from a terminal, including those that send signals. The caller
// must close the result, also before the process is stopped.
func TakeKeys(terminal *os.File) (*Keys, error) {
	k, err := newKeys(terminal)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	k.all = true
	k.set() // in the background the system stops the process here until it is in the foreground
	k.ended.Go(k.run)
	return k, nil
}

func newKeys(terminal *os.File) (*Keys, error) {
	there, err := cancelreader.NewReader(unread{terminal})
	return &Keys{keySplitter: newKeySplitter(), fd: int(terminal.Fd()), there: there}, err
}

// unread waits for input without reading any of it.
type unread struct{ *os.File }

func (unread) Read([]byte) (int, error) { return 0, nil }

// Close restores the terminal.
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
		pause := pollInterval
		if k.incomplete() {
			pause = keyTimeout
		}
		select {
		case <-k.stop:
			return
		case s := <-k.stops:
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

// await waits for input once for each value of more.
func (k *Keys) await(typed chan<- struct{}, more <-chan struct{}) {
	for range more {
		if _, err := k.there.Read(nil); err != nil {
			return
		}
		typed <- struct{}{}
	}
}

// obey stops the process if a signal asks for it. SIGCONT after a SIGSTOP needs nothing: run
// prepares the terminal again.
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

// look reads the keys that were pressed. In the background it reads none: the system would stop the
// process.
func (k *Keys) look() {
	k.prepare()
	if mine, _ := k.foreground(); !k.raw || !mine {
		return
	}
	if sent := k.read(); sent != "" {
		k.take(sent)
	} else {
		k.flush()
	}
}

// read returns what can be read at once. The process may have been stopped since it set the
// terminal's modes, and the shell may have reset them: a read without input would then wait for a
// line.
func (k *Keys) read() string {
	var sent [4096]byte // the kernel queues no more than that (n_tty)
	if there, err := unix.IoctlGetInt(k.fd, askReadable); err != nil || there == 0 {
		return ""
	}
	n, err := unix.Read(k.fd, sent[:])
	if err != nil {
		return ""
	}
	return string(sent[:max(n, 0)])
}

// quit restores the terminal and lets SIGQUIT have its default effect. Kill returns before that:
// until then nothing may take the terminal again.
func (k *Keys) quit() {
	k.restore()
	signal.Reset(unix.SIGQUIT)
	_ = unix.Kill(unix.Getpid(), unix.SIGQUIT)
	<-k.stop
}

// prepare puts the terminal into single-key mode if it is in the foreground. After a SIGSTOP the
// terminal is as the shell left it: a read would wait for a line.
func (k *Keys) prepare() {
	if mine, _ := k.foreground(); mine {
		k.set()
	}
}

// set is prepare without the check. VMIN is 1 although [Keys.read] never needs to wait: if this
// process is killed, the next reader would take an empty read for the end of input, and a shell
// would exit.
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

// restore restores the terminal. In the background the shell has already done so.
func (k *Keys) restore() {
	if mine, _ := k.foreground(); k.raw && mine {
		k.mark(PasteOff)
		_ = unix.IoctlSetTermios(k.fd, writeModes, &k.cooked)
	}
	k.raw = false
}

// foreground reports whether this process may use the terminal, and whether the terminal is gone. A
// terminal that does not control this process has no background: whoever takes all its keys has no
// rival there.
func (k *Keys) foreground() (mine, gone bool) {
	group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp() || k.all && errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EIO)
}

//go:build linux || darwin

package term

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// between is how often a terminal is looked at for keys, and as long is waited
// for the rest of one: an Esc alone could be the beginning of an arrow.
const between = 20 * time.Millisecond

// Keys reads single keys from a terminal, without their showing on it and
// without waiting for the end of a line. Keys that make signals go on doing so:
// when the process is stopped or quits, the terminal is put back first.
type Keys struct {
	fd      int
	pressed chan string
	begun   string // of a key whose rest may be still to come
	hold    *Hold
	quits   chan os.Signal
	stop    chan struct{}
	ended   sync.WaitGroup

	cooked unix.Termios // what the terminal is put back to
	raw    bool
	stops  func() (goesOn func())
}

// ReadKeys begins to read keys from In; ok is false where that is no terminal.
// The caller closes what it gets.
// Stops, unless it is nil, is called before the process is stopped, and what it returns when
// the process goes on.
func (s *Streams) ReadKeys(stops func() (goesOn func())) (k *Keys, ok bool) {
	f, isFile := s.In.(*os.File)
	if !isFile || !isTerminal(f) {
		return nil, false
	}
	k = &Keys{
		fd: int(f.Fd()), pressed: make(chan string, 256), stop: make(chan struct{}), stops: stops,
		hold: s.Jobs.Hold(), quits: make(chan os.Signal, 1),
	}
	signal.Notify(k.quits, unix.SIGQUIT)
	k.prepare()
	k.ended.Go(k.run)
	return k, true
}

// Pressed returns the channel of the keys, each as what it sends: a character,
// or an escape sequence. While nobody receives, all but some are dropped.
func (k *Keys) Pressed() <-chan string { return k.pressed }

// Close puts the terminal back as it was.
func (k *Keys) Close() {
	close(k.stop)
	k.ended.Wait()
	signal.Stop(k.quits)
	k.restore()
	k.hold.Release()
}

func (k *Keys) run() {
	look := time.NewTicker(between)
	defer look.Stop()
	for {
		select {
		case <-k.stop:
			return
		case s := <-k.hold.Signals():
			if IsStop(s) && resumable() {
				goesOn := func() {}
				if k.stops != nil {
					goesOn = k.stops()
				}
				k.restore()
				k.hold.stop(unix.Getpid(), k.stop)
				goesOn()
			}
		case <-k.quits:
			k.quit()
		case <-look.C:
			k.look()
		}
	}
}

// look takes the keys that there are. In the background it takes none: it would
// be stopped for that.
func (k *Keys) look() {
	k.prepare()
	if !k.raw || !k.foreground() {
		return
	}
	sent := k.read()
	if sent == "" {
		if k.begun != "" { // nothing more has come
			k.press(k.begun)
		}
		k.begun = ""
		return
	}
	k.take(sent)
}

// read returns what can be read at once. A process may have been stopped since it looked at
// the modes of its terminal, and the shell have put that back: a read with nothing there
// would wait for a line.
func (k *Keys) read() string {
	var sent [64]byte
	if there, err := unix.IoctlGetInt(k.fd, askReadable); err != nil || there == 0 {
		return ""
	}
	n, err := unix.Read(k.fd, sent[:])
	if err != nil {
		return ""
	}
	return string(sent[:max(n, 0)])
}

// take hands on every key that is whole.
func (k *Keys) take(sent string) {
	key, rest := cutKey(k.begun + sent)
	for ; key != ""; key, rest = cutKey(rest) {
		k.press(key)
	}
	k.begun = rest
}

func (k *Keys) press(key string) {
	select {
	case k.pressed <- key:
	default:
	}
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
// belongs to somebody else at the moment. A read returns at once. What a SIGSTOP has
// stopped finds the terminal as the shell has put it: a read would wait for a line.
func (k *Keys) prepare() {
	if !k.foreground() {
		return
	}
	modes, err := unix.IoctlGetTermios(k.fd, readModes)
	if err != nil || k.raw && modes.Lflag&unix.ICANON == 0 && modes.Cc[unix.VMIN] == 0 {
		return
	}
	k.cooked = *modes
	modes.Lflag &^= unix.ICANON | unix.ECHO
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 0, 0
	k.raw = unix.IoctlSetTermios(k.fd, writeModes, modes) == nil
}

// restore puts the terminal back. One that belongs to somebody else has been
// put back by the shell.
func (k *Keys) restore() {
	if k.raw && k.foreground() {
		_ = unix.IoctlSetTermios(k.fd, writeModes, &k.cooked)
	}
	k.raw = false
}

func (k *Keys) foreground() bool {
	group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

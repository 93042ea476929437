package proc

import (
	"cmp"
	"encoding/gob"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A remote is the host's handle of a keeper.
type remote struct {
	process *os.Process
	conn    *net.UnixConn
	files   []int // to be sent with the next write
	send    *gob.Encoder
	receive *gob.Decoder
	views   bool // it can mount views
}

// starting is held until a new keeper has become visible as one: a process that starts in
// a user namespace is not when [syscall.ForkLock] is free again.
var starting sync.RWMutex //nolint:gochecknoglobals // one for the process, like ForkLock

// noForks waits until every forked child has called exec, and prevents further forks
// until the returned function is called.
func noForks() (over func()) {
	starting.Lock()
	syscall.ForkLock.RLock()
	return func() {
		syscall.ForkLock.RUnlock()
		starting.Unlock()
	}
}

// awaitForks waits until every forked child has called exec. Until then it keeps files
// open for writing, and a program among them cannot be run (ETXTBSY).
func awaitForks() { noForks()() }

// startKeeper starts a keeper. views says whether it must be able to mount views.
func startKeeper(views bool) (*remote, error) {
	attr := &syscall.SysProcAttr{Setsid: true}
	if views {
		attr = mounting()
	}
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("start a keeper: %w", err)
	}
	defer func() { _ = theirs.Close() }()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("start a keeper: %w", err)
	}
	defer func() { _ = null.Close() }()
	// The link in /proc stays valid when the program's file is replaced. The keeper's
	// own session keeps the terminal's signals away. It inherits our environment, and
	// with it the settings of the Go runtime.
	starting.RLock()
	defer starting.RUnlock()
	p, err := os.StartProcess("/proc/self/exe", []string{keeperName}, &os.ProcAttr{
		Dir:   "/",
		Files: []*os.File{null, null, null, theirs},
		Sys:   attr,
	})
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("start a keeper: %w", cmp.Or(Able(), err))
	}
	k := &remote{process: p, conn: conn, receive: gob.NewDecoder(conn), views: views}
	k.send = gob.NewEncoder(k)
	return k, nil
}

// Able returns an error if the system lacks what every runner needs.
func Able() error {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		return &noProcError{err}
	}
	return nil
}

// A noProcError is a system without /proc, as in a bare chroot.
type noProcError struct{ cause error }

func (e *noProcError) Error() string {
	return "nothing could end what agents leave running, because /proc is not mounted: " + e.cause.Error()
}

func (e *noProcError) Unwrap() error { return e.cause }

// Hint says what to do about it.
func (e *noProcError) Hint() string { return "mount it: mount -t proc proc /proc" }

func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "host")
	defer func() { _ = f.Close() }()
	theirs = os.NewFile(uintptr(fds[1]), "keeper")
	c, err := net.FileConn(f)
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return c.(*net.UnixConn), theirs, nil
}

// start hands over a command with its files.
func (k *remote) start(s spawn) error {
	for _, f := range []*os.File{s.io.stdin, s.io.stdout.theirs, s.io.stderr.theirs} {
		k.files = append(k.files, int(f.Fd())) // in blocking mode, as programs expect
	}
	s.Stdin = nil // the keeper gets it as a file
	err := k.send.Encode(message{Kind: msgStart, Start: &s})
	k.wake() // an earlier command may have stopped it
	return err
}

// Write implements [io.Writer].
func (k *remote) Write(b []byte) (n int, err error) {
	if len(k.files) > 0 {
		if n, _, err = k.conn.WriteMsgUnix(b, unix.UnixRights(k.files...), nil); err != nil {
			return n, err
		}
		k.files = nil
	}
	more, err := k.conn.Write(b[n:])
	return n + more, err
}

// tell sends a message without content. If the keeper is gone, the receiver notices.
func (k *remote) tell(about kind) {
	_ = k.send.Encode(message{Kind: about})
	k.wake()
}

// wake resumes a keeper that a hostile command has stopped with SIGSTOP.
func (k *remote) wake() { _ = k.process.Signal(syscall.SIGCONT) }

// close makes the keeper kill what it still runs and exit, and waits for it.
func (k *remote) close() {
	_ = k.conn.Close()
	k.wake()
	_, _ = k.process.Wait()
}

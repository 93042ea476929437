package proc

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A remote is a keeper as its host sees it.
type remote struct {
	process *os.Process
	conn    *net.UnixConn
}

// starting is held until a keeper-to-be looks like one: what begins in a user namespace is
// not yet there when [syscall.ForkLock] is free.
var starting sync.RWMutex //nolint:gochecknoglobals // one for the process, as the other one

// noForks waits until every process that this one has forked is another program, and lets
// it fork no more until the returned function is called.
func noForks() (over func()) {
	starting.Lock()
	syscall.ForkLock.RLock()
	return func() {
		syscall.ForkLock.RUnlock()
		starting.Unlock()
	}
}

// awaitForks waits until every process that this one has forked is another program: until
// then it has open for writing what was being written, and nobody can run that (ETXTBSY).
func awaitForks() { noForks()() }

// startKeeper starts one that lays overlays if it is to.
func startKeeper(overlays bool) (*remote, error) {
	attr := &syscall.SysProcAttr{Setsid: true}
	if overlays {
		attr = overlaying()
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
	// The link in /proc stays good when the program's file is replaced. The
	// session of its own keeps the terminal's signals away. The environment is
	// ours: what it tells the Go runtime holds for the keeper, too.
	starting.RLock()
	defer starting.RUnlock()
	p, err := os.StartProcess("/proc/self/exe", []string{keeperName}, &os.ProcAttr{
		Dir:   "/",
		Files: []*os.File{null, null, null, theirs},
		Sys:   attr,
	})
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("start a keeper: %w", err)
	}
	return &remote{process: p, conn: conn}, nil
}

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

// start hands over a start frame with the files that go with it.
func (k *remote) start(frame []byte, files *streams) error {
	var fds []int
	for _, f := range []*os.File{files.stdin, files.stdout.theirs, files.stderr.theirs} {
		fds = append(fds, int(f.Fd())) // in blocking mode, as programs expect
	}
	n, _, err := k.conn.WriteMsgUnix(frame, unix.UnixRights(fds...), nil)
	if err == nil {
		_, err = k.conn.Write(frame[n:])
	}
	k.wake() // an earlier command may have stopped it
	return err
}

func (k *remote) receive() (m message, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(k.conn, header[:]); err != nil {
		return m, err
	}
	return readMessage(header, k.conn)
}

// tell sends a message without content. A keeper that is gone is noticed by
// receive.
func (k *remote) tell(about kind) {
	_, _ = k.conn.Write(message{Kind: about}.frame())
	k.wake()
}

// wake lets a keeper go on that a hostile command has stopped with SIGSTOP.
func (k *remote) wake() { _ = k.process.Signal(syscall.SIGCONT) }

// close lets the keeper go, which kills what it still has, and waits for it.
func (k *remote) close() {
	_ = k.conn.Close()
	k.wake()
	_, _ = k.process.Wait()
}

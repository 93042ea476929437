package proc

import (
	"encoding/gob"
	"fmt"
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
	files   []int // to be handed over with what is written next
	send    *gob.Encoder
	receive *gob.Decoder
	views   bool // it lays them
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

// startKeeper starts one that lays views if it is to.
func startKeeper(views bool) (*remote, error) {
	attr := &syscall.SysProcAttr{Setsid: true}
	if views {
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
	k := &remote{process: p, conn: conn, receive: gob.NewDecoder(conn), views: views}
	k.send = gob.NewEncoder(k)
	return k, nil
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

// start hands over a command with its files.
func (k *remote) start(s spawn) error {
	for _, f := range []*os.File{s.io.stdin, s.io.stdout.theirs, s.io.stderr.theirs} {
		k.files = append(k.files, int(f.Fd())) // in blocking mode, as programs expect
	}
	err := k.send.Encode(startOf(s))
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

// tell sends a message without content. A keeper that is gone is noticed by whoever receives.
func (k *remote) tell(about kind) {
	_ = k.send.Encode(message{Kind: about})
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

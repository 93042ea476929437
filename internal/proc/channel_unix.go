//go:build unix

package proc

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// roomy is how much is to fit into a channel, in bytes. Several agents exit
// without waiting until somebody has read what they printed last.
const roomy = 1 << 20

// A channel is our end of one through which a command prints. Only one goroutine
// may use it at a time, except interrupt.
type channel struct {
	file    *os.File
	conn    syscall.RawConn
	signed  bool // it tells who writes
	control []byte

	attempt func(fd uintptr) (over bool) // a read into buf; made once, as there are many
	buf     []byte
	n       int // of the last attempt, as what follows
	writer  int
	err     error
}

// newChannel takes over the file.
func newChannel(f *os.File, signed bool) (*channel, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &channel{file: f, conn: conn, signed: signed, control: make([]byte, 64)}
	c.attempt = func(fd uintptr) bool {
		c.n, c.writer, c.err = c.read(int(fd), c.buf)
		return !errors.Is(c.err, syscall.EAGAIN)
	}
	return c, nil
}

// socketPair returns a channel that can only be inherited, and the command's end.
func socketChannel(signed bool) (ours *channel, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for fd, option := range map[int]int{fds[0]: unix.SO_RCVBUF, fds[1]: unix.SO_SNDBUF} {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, roomy) // as much of it as the system grants
	}
	theirs = os.NewFile(uintptr(fds[1]), "output") // in blocking mode, as programs expect
	err = unix.SetNonblock(fds[0], true)
	if err == nil && signed {
		err = sign(fds[0])
	}
	f := os.NewFile(uintptr(fds[0]), "output")
	if err == nil {
		ours, err = newChannel(f, signed)
	}
	if err != nil {
		_, _ = f.Close(), theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// receive waits for something to be written and reads it, with the number of the
// process that wrote it, where the channel tells. The error is [io.EOF] when nobody
// can write any more, and [os.ErrDeadlineExceeded] after interrupt.
func (c *channel) receive(buf []byte) (n, writer int, err error) {
	c.buf, c.n, c.writer, c.err = buf, 0, 0, nil
	return c.received(c.conn.Read(c.attempt))
}

// take reads what is there already.
func (c *channel) take(buf []byte) (n, writer int, err error) {
	c.buf, c.n, c.writer, c.err = buf, 0, 0, nil
	return c.received(c.conn.Control(func(fd uintptr) { c.attempt(fd) }))
}

func (c *channel) received(waited error) (n, writer int, err error) {
	if err := errors.Join(waited, c.err); err != nil {
		return 0, 0, err
	}
	if c.n == 0 {
		return 0, 0, io.EOF
	}
	return c.n, c.writer, nil
}

// pending returns how many bytes can be taken.
func (c *channel) pending() (n int) {
	_ = c.conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), askPending) })
	return n
}

// interrupt ends receive, now or when it is called.
func (c *channel) interrupt() { _ = c.file.SetReadDeadline(time.Unix(1, 0)) }

func (c *channel) close() { _ = c.file.Close() }

// again calls a system call until no signal comes between.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return max(n, 0), err
		}
	}
}

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

// capacity is how much should fit into a channel, in bytes. Several agents exit without
// waiting until their last output has been read.
const capacity = 1 << 20

// A channel is our end of a pipe or socket to which a command prints. Only one goroutine
// may use it at a time, except for interrupt.
type channel struct {
	file    *os.File
	conn    syscall.RawConn
	signed  bool // it tells who writes
	control []byte
}

// newChannel takes over the file.
func newChannel(f *os.File, signed bool) (*channel, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &channel{file: f, conn: conn, signed: signed, control: make([]byte, 64)}, nil
}

// socketChannel returns a channel that can only be inherited, and the command's end.
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
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, capacity) // or as much as the system grants
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

// receive waits for output and reads it. writer is the PID of the process that wrote it,
// if the channel is signed. The error is [io.EOF] when nobody can write any more, and
// [os.ErrDeadlineExceeded] after interrupt.
func (c *channel) receive(buf []byte) (n, writer int, err error) {
	waited := c.conn.Read(func(fd uintptr) (over bool) {
		n, writer, err = c.read(int(fd), buf)
		return !errors.Is(err, syscall.EAGAIN)
	})
	return received(n, writer, errors.Join(waited, err))
}

// take reads what is there without waiting.
func (c *channel) take(buf []byte) (n, writer int, err error) {
	failed := c.conn.Control(func(fd uintptr) { n, writer, err = c.read(int(fd), buf) })
	return received(n, writer, errors.Join(failed, err))
}

func received(n, writer int, err error) (int, int, error) {
	if err == nil && n == 0 {
		err = io.EOF
	}
	return n, writer, err
}

// pending returns how many bytes can be taken.
func (c *channel) pending() (n int) {
	_ = c.conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), askPending) })
	return n
}

// interrupt ends the current and every later receive.
func (c *channel) interrupt() { _ = c.file.SetReadDeadline(time.Unix(1, 0)) }

func (c *channel) close() { _ = c.file.Close() }

// again repeats a system call that a signal interrupts.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return max(n, 0), err
		}
	}
}

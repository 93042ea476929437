package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	// capacity is how much should fit into a channel, in bytes.
	capacity = 1 << 20
	// pollPeriod is how often a channel is polled: a blocking read could not be
	// interrupted.
	pollPeriod = 10 * time.Millisecond
)

// A channel is our end of a pipe to which a command prints. Only one goroutine may use
// it at a time, except for interrupt.
type channel struct {
	pipe        windows.Handle
	once        sync.Once
	interrupted chan struct{}
}

func openChannel(bool) (ours *channel, theirs *os.File, err error) {
	var r, w windows.Handle
	if err := windows.CreatePipe(&r, &w, nil, capacity); err != nil {
		return nil, nil, os.NewSyscallError("CreatePipe", err)
	}
	return &channel{pipe: r, interrupted: make(chan struct{})}, os.NewFile(uintptr(w), "output"), nil
}

// receive waits for output and reads it; Windows does not tell who wrote it. The error
// is [io.EOF] when nobody can write any more, and [os.ErrDeadlineExceeded] after
// interrupt.
func (c *channel) receive(buf []byte) (n, writer int, err error) {
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-c.interrupted:
			return 0, 0, os.ErrDeadlineExceeded
		default:
		}
		pending, err := c.peek()
		if err != nil {
			return 0, 0, io.EOF
		}
		if pending > 0 {
			return c.take(buf)
		}
		select {
		case <-c.interrupted:
		case <-ticker.C:
		}
	}
}

// take reads what is there. It must not be called when nothing is pending.
func (c *channel) take(buf []byte) (n, writer int, err error) {
	var read uint32
	err = windows.ReadFile(c.pipe, buf, &read, nil)
	if errors.Is(err, windows.ERROR_BROKEN_PIPE) {
		return 0, 0, io.EOF
	}
	return int(read), 0, err
}

// pending returns how many bytes can be taken.
func (c *channel) pending() int {
	n, _ := c.peek()
	return n
}

func (c *channel) peek() (n int, err error) {
	var pending uint32
	ok, _, err := peekNamedPipe().Call(uintptr(c.pipe), 0, 0, 0, uintptr(unsafe.Pointer(&pending)), 0)
	if ok == 0 {
		return 0, err
	}
	return int(pending), nil
}

func peekNamedPipe() *windows.LazyProc {
	return windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")
}

// interrupt ends the current and every later receive.
func (c *channel) interrupt() { c.once.Do(func() { close(c.interrupted) }) }

func (c *channel) close() { _ = windows.CloseHandle(c.pipe) }

package proc

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// An endpoint is the keeper's end of the socket. It always has the same descriptor, and
// blocks.
type endpoint struct {
	files []int // received for the next start message
}

// Read implements [io.Reader].
func (e *endpoint) Read(b []byte) (int, error) {
	control := make([]byte, unix.CmsgSpace(3*4))
	n, controlLen, err := recvmsg(b, control)
	if err != nil {
		return 0, err
	}
	files, err := passedFiles(control[:controlLen])
	e.files = append(e.files, files...)
	return n, err
}

// take returns the files received. The caller must close them.
func (e *endpoint) take() (files []int) {
	files, e.files = e.files, nil
	return files
}

func recvmsg(b, control []byte) (n, controlLen int, err error) {
	for {
		n, controlLen, _, _, err = unix.Recvmsg(keeperSocket, b, control, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, 0, fmt.Errorf("receive from the host: %w", err)
		case n == 0:
			return 0, 0, io.EOF
		}
		return n, controlLen, nil
	}
}

func passedFiles(control []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	var files []int
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		files = append(files, fds...)
	}
	return files, nil
}

// Write implements [io.Writer].
func (*endpoint) Write(b []byte) (written int, err error) {
	for written < len(b) {
		n, err := unix.SendmsgN(keeperSocket, b[written:], nil, nil, unix.MSG_NOSIGNAL)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return written, err
		}
		written += max(n, 0)
	}
	return written, nil
}

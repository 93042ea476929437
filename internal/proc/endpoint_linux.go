package proc

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// An endpoint is the keeper's end of the socket: always the same descriptor,
// and blocking, as the keeper has nothing else to do.
type endpoint struct{}

// receive returns the next message, with the files that came along. They are the
// caller's to close.
func (e endpoint) receive() (m message, files []int, err error) {
	var header [headerSize]byte
	control := make([]byte, unix.CmsgSpace(3*4))
	n, controlLen, err := recvmsg(header[:], control)
	if err != nil {
		return m, nil, err
	}
	if files, err = passedFiles(control[:controlLen]); err != nil {
		return m, nil, err
	}
	if _, err := io.ReadFull(e, header[n:]); err != nil {
		return m, nil, err
	}
	m, err = readMessage(header, e)
	return m, files, err
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

// Read implements io.Reader.
func (endpoint) Read(b []byte) (int, error) {
	n, _, err := recvmsg(b, nil)
	return n, err
}

// send sends a message. A host that is gone is noticed by receive.
func (endpoint) send(m message) {
	for frame := m.frame(); len(frame) > 0; {
		n, err := unix.SendmsgN(keeperSocket, frame, nil, nil, unix.MSG_NOSIGNAL)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
		frame = frame[max(n, 0):]
	}
}

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// askPending is the question how much can be read: FIONREAD of sys/filio.h.
const askPending = 0x4004667f

// openChannel returns a channel and the command's end of it. Nobody can open
// another process's files here, and a pipe has room for 64 KiB: all are sockets.
func openChannel(bool) (ours *channel, theirs *os.File, err error) { return socketChannel(false) }

func sign(int) error { return nil }

func (*channel) read(fd int, buf []byte) (n, writer int, err error) {
	n, err = again(func() (int, error) { return unix.Read(fd, buf) })
	return n, 0, err
}

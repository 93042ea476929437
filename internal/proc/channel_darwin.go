package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// askPending is the ioctl for the number of readable bytes: FIONREAD in sys/filio.h.
const askPending = 0x4004667f

// openChannel returns a channel and the command's end of it. All channels are sockets:
// on macOS nobody can reopen another process's files, and a pipe only holds 64 KiB.
func openChannel(bool) (ours *channel, theirs *os.File, err error) { return socketChannel(false) }

func sign(int) error { return nil }

func (*channel) read(fd int, buf []byte) (n, writer int, err error) {
	n, err = again(func() (int, error) { return unix.Read(fd, buf) })
	return n, 0, err
}

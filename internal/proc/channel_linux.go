package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// askPending is the ioctl for the number of readable bytes.
const askPending = unix.SIOCINQ

// openChannel returns a channel and the command's end of it. A sealed channel is a
// socket: it tells who writes, and nobody can reopen it, not even the command itself. A
// pipe can be reopened through /proc/PID/fd (proc(5)), to write to it or to drain it.
func openChannel(sealed bool) (ours *channel, theirs *os.File, err error) {
	if sealed {
		return socketChannel(true)
	}
	f, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	_, _ = unix.FcntlInt(theirs.Fd(), unix.F_SETPIPE_SZ, capacity) // if refused, a small one will do
	if ours, err = newChannel(f, false); err != nil {
		_, _ = f.Close(), theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// sign makes a socket tell who wrote what is read from it.
func sign(fd int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1))
}

// read reads what one process wrote (SCM_CREDENTIALS, unix(7)).
func (c *channel) read(fd int, buf []byte) (n, writer int, err error) {
	if !c.signed {
		n, err = again(func() (int, error) { return unix.Read(fd, buf) })
		return n, 0, err
	}
	var control int
	n, err = again(func() (n int, err error) {
		n, control, _, _, err = unix.Recvmsg(fd, buf, c.control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		return n, err
	})
	if err != nil {
		return 0, 0, err
	}
	return n, writerOf(c.control[:control]), nil
}

// writerOf returns the PID that a message names as its writer. Files sent with it are
// closed: nobody needs to send files in order to print.
func writerOf(control []byte) (pid int) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		if who, err := unix.ParseUnixCredentials(&m); err == nil {
			pid = int(who.Pid)
		}
		if files, err := unix.ParseUnixRights(&m); err == nil {
			for _, fd := range files {
				_ = unix.Close(fd)
			}
		}
	}
	return pid
}

package term

import "golang.org/x/sys/unix"

const (
	readModes   = unix.TIOCGETA
	writeModes  = unix.TIOCSETA
	askReadable = 0x4004667f // FIONREAD of sys/filio.h
)

package term

import "golang.org/x/sys/unix"

const (
	readModes  = unix.TIOCGETA
	writeModes = unix.TIOCSETA
)

package termtest

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Open returns the side of a new pseudo-terminal that plays the terminal, of 24 lines
// and 70 columns, and the name of the other side (see pty(7)). It is closed after the
// test, which ends a read of it. Where there are none, the test is skipped.
func Open(tb testing.TB) (main *os.File, name string) {
	tb.Helper()
	// Of one that may block a read would not end.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		tb.Skip("there are no pseudo-terminals:", err)
	}
	main = os.NewFile(uintptr(fd), "/dev/ptmx")
	tb.Cleanup(func() { _ = main.Close() })
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 70})); err != nil {
		tb.Fatal(err)
	}
	return main, fmt.Sprintf("/dev/pts/%d", number)
}

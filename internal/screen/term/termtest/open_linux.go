package termtest

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Open returns the master side of a new pseudo-terminal of 24 lines and 70 columns, and the name of
// the other side (see pty(7)). It is closed after the test, which ends a pending read. The test is
// skipped if there are no pseudo-terminals.
func Open(tb testing.TB) (main *os.File, name string) {
	tb.Helper()
	// A read of a blocking descriptor could not be ended.
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

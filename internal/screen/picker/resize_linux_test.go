package picker

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestResizedAtFirst shrinks the terminal during the first draw, after its size was read.
func TestResizedAtFirst(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	smaller := sync.OnceValue(func() error {
		if err := unix.IoctlSetWinsize(int(s.main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 9, Col: 30}); err != nil {
			return err
		}
		return unix.Kill(unix.Getpid(), unix.SIGWINCH) // the kernel sends none, since this is not the process's controlling terminal
	})
	m := listOf(30)
	line := m.list.Line
	m.list.Line = func(i, width int) string {
		if err := smaller(); err != nil {
			t.Error(err)
		}
		return line(i, width)
	}
	s.showsModel(t.Context(), m)
	s.waitFor("esc le…")
	s.types("\r")
	if picked, err := s.wait(); picked != 0 || err != nil {
		t.Errorf("picked %d, %v", picked, err)
	}
}

package picker

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestResizedAtFirst makes the terminal smaller while the list is drawn for the first
// time, at a size that was asked for before.
func TestResizedAtFirst(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	smaller := sync.OnceValue(func() error {
		if err := unix.IoctlSetWinsize(int(s.main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 9, Col: 30}); err != nil {
			return err
		}
		return unix.Kill(unix.Getpid(), unix.SIGWINCH) // nobody else would: the terminal is not this process's own
	})
	m := shelf(30)
	line := m.list.Line
	m.list.Line = func(i, width int) string {
		if err := smaller(); err != nil {
			t.Error(err)
		}
		return line(i, width)
	}
	s.showsModel(t.Context(), m)
	s.sees("esc le…")
	s.types("\r")
	if picked, err := s.ends(); picked != 0 || err != nil {
		t.Errorf("picked %d, %v", picked, err)
	}
}

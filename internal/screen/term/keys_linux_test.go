package term

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/screen/term/termtest"
)

// TestReadOfATerminalPutBack: reading single keys does not wait for a line if the terminal was
// restored since its modes were read.
func TestReadOfATerminalPutBack(t *testing.T) {
	t.Parallel()
	keyboard, name := termtest.Open(t)
	screen, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	if _, err := keyboard.WriteString("half a line"); err != nil {
		t.Fatal(err)
	}
	k := &Keys{fd: int(screen.Fd()), raw: true}
	read := make(chan string, 1)
	go func() { read <- k.read() }()
	select {
	case got := <-read:
		if got != "" {
			t.Errorf("it reads %q", got)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("the read waits for a whole line")
	}
}

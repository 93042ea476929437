package hub

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"codeloops/internal/wording"
)

// look is how often the file of those who are let in is looked at, and a disk that was full.
const look = time.Second

// tend keeps the hub going: it lets in whom the file names by then, of which it knows the version
// last, and goes on when a disk that was full has room again.
func (b *Hub) tend(last string) {
	t := time.NewTicker(look)
	defer t.Stop()
	broken := ""
	for {
		select {
		case <-b.done:
			return
		case why := <-b.faults:
			if broken == "" {
				b.options.Tell("the hub cannot write to its disk: " + why + "; nothing more is acknowledged until it can, and what was is kept")
			}
			broken = why
		case <-t.C:
			if now := stamp(b.options.Authorized); now != last {
				last = now
				b.admit()
			}
			if broken != "" && b.room() == nil && b.again() == nil {
				broken = ""
				b.options.Tell("the hub can write to its disk again, and goes on")
			}
		}
	}
}

// stamp tells a version of a file from another one.
func stamp(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

// admit lets in whom the file names now. One that cannot be read changes nothing.
func (b *Hub) admit() {
	so, err := b.settings()
	if err == nil {
		err = b.now().ReloadOptions(so)
	}
	if err != nil {
		b.options.Tell(err.Error() + "; those who could come still may")
		return
	}
	b.options.Tell(wording.Count(len(so.Nkeys)-1, "home") + " may come beside this one")
}

// room reports whether something can be written. What JetStream sets aside at its start needs
// some.
func (b *Hub) room() error {
	f, err := os.CreateTemp(b.home.Dir, "room.*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // there is nothing in it
	_, err = f.Write(make([]byte, 1<<20))
	return errors.Join(err, f.Sync(), f.Close())
}

// again starts the server once more, at the same address: one that could not write a stream does
// not try it again by itself.
func (b *Hub) again() error {
	so, err := b.settings()
	if err != nil {
		return err
	}
	if at, ok := b.now().Addr().(*net.TCPAddr); ok {
		so.Port = at.Port
	}
	b.shutdown()
	for err = b.run(so); err != nil; err = b.run(so) {
		select {
		case <-b.done:
			return err
		case <-time.After(look):
		}
	}
	select {
	case <-b.faults: // of the one before
	default:
	}
	return nil
}

// faults is the log of a server: whoever could not write is told, and why it could not begin.
type faults struct {
	tell, fatal chan string
}

// Errorf tells of a stream that could not be written.
func (f *faults) Errorf(format string, v ...any) {
	if text := fmt.Sprintf(format, v...); strings.Contains(text, "write error") || strings.Contains(text, "out of ") {
		put(f.tell, text[strings.LastIndex(text, ": ")+1:])
	}
}

// Fatalf tells why a server cannot begin.
func (f *faults) Fatalf(format string, v ...any) { put(f.fatal, fmt.Sprintf(format, v...)) }

func put(to chan string, text string) {
	select {
	case to <- strings.TrimSpace(text):
	default:
	}
}

// Noticef and those below are of no use to anybody here.
func (f *faults) Noticef(string, ...any) {}

// Warnf is as Noticef.
func (f *faults) Warnf(string, ...any) {}

// Debugf is as Noticef.
func (f *faults) Debugf(string, ...any) {}

// Tracef is as Noticef.
func (f *faults) Tracef(string, ...any) {}

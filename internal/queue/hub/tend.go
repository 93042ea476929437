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

// look is the interval for checking the authorized keys, and a full disk.
const look = time.Second

// tend admits the homes that are added to the file, of which last is the known version, and restarts the server
// when a full disk has space again.
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
				b.options.Tell("the hub cannot write to its disk: " + why + "; until it can, it accepts nothing new, and what it has accepted is kept")
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

// stamp identifies a version of a file.
func stamp(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

// admit admits the homes that the file lists now. If it cannot be read, nothing changes.
func (b *Hub) admit() {
	so, err := b.settings()
	if err == nil {
		err = b.now().ReloadOptions(so)
	}
	if err != nil {
		b.options.Tell(err.Error() + "; the homes admitted before still are")
		return
	}
	b.options.Tell(wording.Count(len(so.Nkeys)-1, "home") + " may connect besides this one")
}

// room reports whether the disk has space. JetStream reserves some when it starts.
func (b *Hub) room() error {
	f, err := os.CreateTemp(b.home.Dir, "room.*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // there is nothing in it
	_, err = f.Write(make([]byte, 1<<20))
	return errors.Join(err, f.Sync(), f.Close())
}

// again restarts the server at the same address: it does not retry a stream that it could not write.
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
	case <-b.faults: // from the old server
	default:
	}
	return nil
}

// faults is a server's log. It passes on write errors and the reason of a failed start.
type faults struct {
	tell, fatal chan string
}

// Errorf passes on a write error.
func (f *faults) Errorf(format string, v ...any) {
	if text := fmt.Sprintf(format, v...); strings.Contains(text, "write error") || strings.Contains(text, "out of ") {
		put(f.tell, text[strings.LastIndex(text, ": ")+1:])
	}
}

// Fatalf passes on why a server cannot start.
func (f *faults) Fatalf(format string, v ...any) { put(f.fatal, fmt.Sprintf(format, v...)) }

func put(to chan string, text string) {
	select {
	case to <- strings.TrimSpace(text):
	default:
	}
}

// Noticef and the methods below do nothing.
func (f *faults) Noticef(string, ...any) {}

// Warnf is as Noticef.
func (f *faults) Warnf(string, ...any) {}

// Debugf is as Noticef.
func (f *faults) Debugf(string, ...any) {}

// Tracef is as Noticef.
func (f *faults) Tracef(string, ...any) {}

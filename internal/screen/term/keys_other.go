//go:build !linux && !darwin

package term

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// Keys reads single keys from a terminal.
type Keys struct {
	keySplitter
	fd    int
	found *term.State
	from  cancelreader.CancelReader
	ended sync.WaitGroup
}

// ReadKeys returns false: keys cannot be read during a run here.
func (*Streams) ReadKeys(Listener) (*Keys, bool) { return nil, false }

// TakeKeys begins to read all keys from a terminal. The caller must close the result.
func TakeKeys(terminal *os.File) (*Keys, error) {
	k := &Keys{keySplitter: newKeySplitter(), fd: int(terminal.Fd())}
	var err error
	if k.from, err = cancelreader.NewReader(terminal); err == nil {
		k.found, err = term.MakeRaw(k.fd)
	}
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	k.ended.Go(k.run)
	return k, nil
}

// Close restores the terminal.
func (k *Keys) Close() {
	close(k.stop)
	k.from.Cancel()
	k.ended.Wait()
	_ = k.from.Close()
	_ = term.Restore(k.fd, k.found)
}

func (k *Keys) run() {
	defer close(k.pressed)
	read := make(chan string)
	k.ended.Go(func() { k.read(read) })
	for {
		var late <-chan time.Time
		if k.incomplete() {
			late = time.After(keyTimeout)
		}
		select {
		case sent, more := <-read:
			if !more {
				return
			}
			k.take(sent)
		case <-late:
			k.flush()
		case <-k.stop:
			return
		}
	}
}

func (k *Keys) read(to chan<- string) {
	defer close(to)
	for buf := make([]byte, 64); ; {
		n, err := k.from.Read(buf)
		if err != nil {
			return
		}
		select {
		case to <- string(buf[:n]):
		case <-k.stop:
			return
		}
	}
}

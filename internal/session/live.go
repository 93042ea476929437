package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/loop"
)

// What agents are doing at the moment is not logged. Other processes find the latest of it in
// a file in the folder beside the log. When it is full, another one takes its place, which is seldom; it is
// removed when the session ends.
const (
	liveName     = "live"
	liveSize     = 2 << 20 // bytes of a full file
	mostLiveText = 4 << 10 // bytes of one activity's text
)

// live is the [loop.Sink] that keeps what agents are doing at the moment. It never fails: a
// run goes on even if it cannot be watched.
type live struct {
	dir    string
	file   *os.File // nil before the first activity
	size   int
	logged int  // sequence number of the last event in the log
	over   bool // writing failed: no more is kept
}

// Handle takes an event. Its line, if it has one, is in the log already.
func (l *live) Handle(at loop.Stamp, e loop.Event) error {
	activity, passing := e.(loop.Activity)
	if !passing {
		if l.logged == 0 { // a run that was killed left its file
			l.remove()
		}
		l.logged = at.Seq
		return nil
	}
	if len(activity.Text) > mostLiveText {
		activity.Text = strings.ToValidUTF8(activity.Text[:mostLiveText], "") + "…\n"
	}
	l.write(append(strconv.AppendInt(nil, int64(l.logged), 10), " "+string(Encode(at, activity))...))
	return nil
}

func (l *live) write(line []byte) {
	if l.size+len(line) > liveSize {
		l.remove()
	}
	var err error
	if l.file == nil && !l.over {
		l.file, err = os.OpenFile(filepath.Join(l.dir, liveName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	if err == nil && !l.over {
		_, err = l.file.Write(line)
	}
	l.size, l.over = l.size+len(line), l.over || err != nil
}

func (l *live) remove() {
	if l.file != nil {
		_ = l.file.Close() // Windows removes no open file
	}
	l.file, l.size = nil, 0
	_ = os.Remove(filepath.Join(l.dir, liveName))
}

// A watcher reads, in another process, what agents are doing at the moment. Agents can reach
// the file, too, so nothing in it counts as an event of the log.
type watcher struct {
	dir    string
	read   file.Stamp // of the file that was read last
	offset int64
}

// An instant is an activity, with the sequence number of the last event logged before it.
type instant struct {
	entry Entry
	after int
}

// next returns what was written since the last call and is still there.
func (w *watcher) next() (all []instant) {
	f, now, err := openLog(filepath.Join(w.dir, liveName))
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	if now.Ino != w.read.Ino || now.Size < w.offset {
		w.offset = 0
	}
	w.read = now
	text, _ := io.ReadAll(io.NewSectionReader(f, w.offset, 2*liveSize))
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		w.offset += int64(len(line))
		if i, err := parseInstant(line); err == nil {
			all = append(all, i)
		}
	}
	return all
}

func parseInstant(line string) (i instant, err error) {
	after, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if i.after, err = strconv.Atoi(after); err != nil {
		return i, err
	}
	if i.entry, err = decode([]byte(rest), whole); err != nil {
		return i, err
	}
	if _, passing := i.entry.Event.(loop.Activity); !passing {
		return i, fmt.Errorf("%T is no activity", i.entry.Event)
	}
	return i, nil
}

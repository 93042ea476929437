package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// What agents are doing at the moment is not logged. Other processes find the latest of it in
// one or two files in the folder beside the log: live.1, live.2 and so on. When one is full,
// the next is begun and the one before it removed. The files are removed when the session
// ends.
const (
	livePrefix   = "live."
	liveSize     = 128 << 10 // bytes of a full file
	mostLiveText = 4 << 10   // bytes of one activity's text
)

// live is the [loop.Sink] that keeps what agents are doing at the moment. It never fails: a
// run goes on even if it cannot be watched.
type live struct {
	dir    string
	file   *os.File // nil before the first activity
	number int      // of the file
	size   int
	logged int  // sequence number of the last event in the log
	over   bool // writing failed: no more is kept
}

// Handle takes an event. Its line, if it has one, is in the log already.
func (l *live) Handle(at loop.Stamp, e loop.Event) error {
	activity, passing := e.(loop.Activity)
	if !passing {
		if l.logged == 0 { // a run that was killed left its files
			l.remove()
		}
		l.logged = at.Seq
		return nil
	}
	if l.over {
		return nil
	}
	if len(activity.Text) > mostLiveText {
		activity.Text = strings.ToValidUTF8(activity.Text[:mostLiveText], "") + "…\n"
	}
	l.write(append(strconv.AppendInt(nil, int64(l.logged), 10), " "+string(Encode(at, activity))...))
	return nil
}

func (l *live) write(line []byte) {
	if l.file == nil || l.size+len(line) > liveSize {
		l.next()
	}
	if l.over {
		return
	}
	n, err := l.file.Write(line)
	l.size, l.over = l.size+n, err != nil
}

// next begins another file.
func (l *live) next() {
	l.shut()
	l.number, l.size = l.number+1, 0
	_ = os.Remove(l.path(l.number - 2))
	file, err := os.OpenFile(l.path(l.number), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if l.over = err != nil; !l.over {
		l.file = file
	}
}

func (l *live) path(number int) string { return filepath.Join(l.dir, livePrefix+strconv.Itoa(number)) }

func (l *live) shut() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// remove removes all files.
func (l *live) remove() {
	l.shut() // Windows removes no open file
	for _, number := range liveFiles(l.dir) {
		_ = os.Remove(l.path(number))
	}
}

// liveFiles returns the numbers of the files in a session's folder, in order.
func liveFiles(dir string) (numbers []int) {
	entries, _ := os.ReadDir(dir) // no folder, no files
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), livePrefix)
		if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// A watcher reads, in another process, what agents are doing at the moment. Agents can reach
// the files, too, so nothing in them counts as an event of the log.
type watcher struct {
	dir    string
	number int // of the file that was read last
	offset int64
}

// An instant is an activity, with the sequence number of the last event logged before it.
type instant struct {
	entry Entry
	after int
}

// read returns what was written since the last call and is still there.
func (w *watcher) read() (all []instant) {
	for _, number := range liveFiles(w.dir) {
		switch {
		case number < w.number:
			continue
		case number > w.number:
			w.number, w.offset = number, 0
		}
		all = append(all, w.lines()...)
	}
	return all
}

// lines reads the whole lines after the offset.
func (w *watcher) lines() (all []instant) {
	f, _, err := openLog(filepath.Join(w.dir, livePrefix+strconv.Itoa(w.number)))
	if err != nil {
		return nil // it was removed, and its content is outdated
	}
	defer f.Close() //nolint:errcheck // only read
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

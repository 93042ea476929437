package session

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The index of a store is a file beside the logs that remembers what they say
// of themselves, so that ten thousand of them need not be opened for a list.
// It is derived and never the truth: whoever loses it loses some time. What it
// says of a log counts only while the log is the very file that was read.
//
// It holds indexMagic, the CRC-32C of the rest (four bytes, big-endian), and a list of logs,
// encoded by encoding/gob.
const (
	indexName    = ".index"
	indexVersion = "21"            // grows with every change of what is remembered
	indexMagic   = "codeloops session index " + indexVersion + "\n"
	indexLimit   = 512 << 20 // bytes; a larger one is not ours
	textLimit    = 64 << 10  // bytes of the texts of a log that is remembered
)

// coarsest is how much older than the index a log must be for the index to
// count: one that is written to at the time that it is read may change once
// more without another stamp. No file system's clock is coarser.
const coarsest = 2 * time.Second

// A stamp tells one state of a file from another.
type stamp struct {
	Size    int64
	Written int64 // nanoseconds, as Changed
	Changed int64
	Number  uint64
}

func stampOf(st fs.FileInfo) stamp {
	s := stamp{Size: st.Size(), Written: st.ModTime().UnixNano()}
	s.Changed, s.Number = inner(st)
	return s
}

// indexed is one log as an index remembers it. Where the log is, and who is at work on it,
// is looked at anew each time.
type indexed struct {
	Stamp        stamp
	Overview     Overview
	Err, Problem *badLine
	Through      bool
	Sure         bool // it has a confidence, which may be 0: gob tells that as none
}

// A badLine is what is wrong with a line; whoever reads it says in which file.
type badLine struct {
	Line, Kind int
	Text       string
}

// problems are those of a line that callers may ask for; nil is any other.
func problems() []error { return []error{nil, ErrEmpty, errNoStart, ErrTorn, ErrLineTooLong} }

func badOf(err error) *badLine {
	line, ok := errors.AsType[*LineError](err)
	if !ok {
		return nil
	}
	kind := slices.IndexFunc(problems(), func(known error) bool { return known != nil && errors.Is(err, known) })
	return &badLine{Line: line.Line, Kind: max(0, kind), Text: line.Err.Error()}
}

// in is what is wrong with the line of a log; nil is nothing.
func (b *badLine) in(path string) error {
	if b == nil {
		return nil
	}
	known := problems()
	return &LineError{File: path, Line: b.Line, Err: &recalledError{text: b.Text, is: known[max(0, min(b.Kind, len(known)-1))]}}
}

// A recalledError is one that an index remembers.
type recalledError struct {
	text string
	is   error
}

func (e *recalledError) Error() string { return e.text }
func (e *recalledError) Unwrap() error { return e.is }

// remember returns what an index is to hold of a log; nil: it may not hold it.
func remember(o Overview, at stamp) *indexed {
	e := &indexed{Stamp: at, Overview: o, Err: badOf(o.Err), Problem: badOf(o.Problem), Through: o.through}
	if e.Err == nil && o.Err != nil || e.Problem == nil && o.Problem != nil {
		return nil // of the system: it may be another the next time
	}
	texts := len(o.Session.Prompt)
	if o.Outcome != nil {
		texts += len(o.Outcome.Summary) + len(o.Outcome.ActorError)
		e.Sure = o.Outcome.Confidence != nil
	}
	if texts > textLimit {
		return nil
	}
	e.Overview.Path, e.Overview.Err, e.Overview.Problem = "", nil, nil
	return e
}

// recalled is what an index remembers, completed with what it does not.
func (e *indexed) recalled(path string) Overview {
	o := e.Overview
	o.Path, o.Err, o.Problem, o.through = path, e.Err.in(path), e.Problem.in(path), e.Through
	if e.Sure && o.Outcome != nil && o.Outcome.Confidence == nil {
		o.Outcome.Confidence = new(float64)
	}
	return o
}

// An index is what a store remembers of its logs.
type index struct {
	logs  map[string]*indexed // by id; nil: there is no index
	until int64               // what has changed since, in nanoseconds, is to be read
}

// loadIndex reads the index in a directory. One that is missing, old, damaged or not
// ours remembers nothing.
func loadIndex(dir string, racy time.Duration) index {
	f, st, err := openLog(filepath.Join(dir, indexName))
	if err != nil {
		return index{}
	}
	defer f.Close() //nolint:errcheck // only read
	if st.Size() > indexLimit {
		return index{}
	}
	text := make([]byte, st.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return index{}
	}
	written, _ := inner(st)
	return index{logs: logsOf(text), until: written - int64(racy)}
}

// recall returns what the index says of a log in the state that a stamp stands for, nil
// when it says nothing of it.
func (x index) recall(id string, now stamp) *indexed {
	if e := x.logs[id]; e != nil && e.Stamp == now && now.Changed < x.until {
		return e
	}
	return nil
}

// indexOf returns the text of an index.
func indexOf(logs []*indexed) ([]byte, error) {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(logs); err != nil {
		return nil, err
	}
	text := binary.BigEndian.AppendUint32([]byte(indexMagic), crc32.Checksum(body.Bytes(), castagnoli()))
	return append(text, body.Bytes()...), nil
}

// logsOf returns the logs of an index by their ids; nil if the text is not an index of this version.
func logsOf(text []byte) map[string]*indexed {
	rest, ours := bytes.CutPrefix(text, []byte(indexMagic))
	if !ours || len(rest) < crc32.Size {
		return nil
	}
	sum, body := binary.BigEndian.Uint32(rest), rest[crc32.Size:]
	var decoded []*indexed
	if crc32.Checksum(body, castagnoli()) != sum || gob.NewDecoder(bytes.NewReader(body)).Decode(&decoded) != nil {
		return nil
	}
	logs := map[string]*indexed{}
	for _, e := range decoded {
		logs[e.Overview.ID] = e
	}
	return logs
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// saveIndex replaces the index of a directory. Readers see the old one or the new
// one; of two writers, the last one wins. A store that cannot be written to has no
// index.
func saveIndex(dir string, logs []*indexed) {
	path := filepath.Join(dir, indexName)
	if len(logs) == 0 {
		_ = os.Remove(path)
		return
	}
	text, err := indexOf(logs)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(dir, indexName+"-*") // 0600
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

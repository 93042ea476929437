package session

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"codeloops/internal/file"
)

// The index of a store is a file beside the logs that remembers what they say about
// themselves, so that ten thousand of them need not be opened for a list. It is derived data:
// without it, a list only takes longer. An entry is used only while the log is exactly the
// file that was read.
//
// It holds indexMagic, the CRC-32 of the rest (four bytes, big-endian), and a list of what is
// remembered of the logs, encoded by encoding/gob.
const (
	indexName    = ".index"
	indexVersion = "24" // increased with every change of the format
	indexMagic   = "codeloops session index " + indexVersion + "\n"
	indexLimit   = 512 << 20 // bytes; a larger file is not ours
	textLimit    = 64 << 10  // bytes; a log with longer texts is not remembered
)

// coarsest is how much older than the index a log must be for its entry to count: a log
// written to while it is read may change once more without a change of its stamp. No file
// system's clock is coarser.
const coarsest = 2 * time.Second

// indexed is what an index remembers of one log. Where the log is, and whether it is running,
// is looked up each time.
type indexed struct {
	Stamp        file.Stamp
	Overview     Overview
	Err, Problem *badLine
	Through      bool
	Sure         bool // there is a confidence: gob drops one that is 0
}

// A badLine is what is wrong with a line; the reader knows the file.
type badLine struct {
	Line int
	Text string
}

func badOf(err error) *badLine {
	line, ok := errors.AsType[*LineError](err)
	if !ok {
		return nil
	}
	return &badLine{line.Line, line.Err.Error()}
}

// in returns the error for the log at path; nil if nothing is wrong.
func (b *badLine) in(path string) error {
	if b == nil {
		return nil
	}
	return &LineError{File: path, Line: b.Line, Err: errors.New(b.Text)}
}

// remember returns what an index holds of a log; nil if the log must not be remembered.
func remember(o Overview, at file.Stamp) *indexed {
	e := &indexed{Stamp: at, Overview: o, Err: badOf(o.Err), Problem: badOf(o.Problem), Through: o.through}
	if e.Err == nil && o.Err != nil || e.Problem == nil && o.Problem != nil {
		return nil // a system error may be gone the next time
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

// recalled returns the overview of a log, completed with what the index does not hold.
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
	until time.Time           // logs that changed at or after this time are read
}

// loadIndex reads the index in a directory. An index that is missing, old, damaged or not ours
// is empty.
func loadIndex(dir string, racy time.Duration) index {
	text, st, err := file.Read(filepath.Join(dir, indexName), file.Options{Max: indexLimit})
	if err != nil {
		return index{}
	}
	return index{logs: logsOf(text), until: st.Changed().Add(-racy)}
}

// recall returns the entry of a log in the state of a stamp, nil if there is none.
func (x index) recall(id string, now file.Stamp) *indexed {
	if e := x.logs[id]; e != nil && e.Stamp == now && now.Before(x.until) {
		return e
	}
	return nil
}

// indexOf encodes an index.
func indexOf(logs []*indexed) ([]byte, error) {
	var body bytes.Buffer
	err := gob.NewEncoder(&body).Encode(logs)
	text := binary.BigEndian.AppendUint32([]byte(indexMagic), crc32.ChecksumIEEE(body.Bytes()))
	return append(text, body.Bytes()...), err
}

// logsOf decodes an index into its logs by id; nil if the text is not an index of this
// version.
func logsOf(text []byte) map[string]*indexed {
	rest, ours := bytes.CutPrefix(text, []byte(indexMagic))
	if !ours || len(rest) < crc32.Size {
		return nil
	}
	sum, body := binary.BigEndian.Uint32(rest), rest[crc32.Size:]
	var list []*indexed
	if crc32.ChecksumIEEE(body) != sum || gob.NewDecoder(bytes.NewReader(body)).Decode(&list) != nil {
		return nil
	}
	logs := map[string]*indexed{}
	for _, e := range list {
		logs[e.Overview.ID] = e
	}
	return logs
}

// saveIndex replaces the index of a directory. Readers see the old one or the new
// one; of two writers, the last one wins. A store that cannot be written to has no
// index.
func saveIndex(dir string, logs []*indexed) {
	path := filepath.Join(dir, indexName)
	if len(logs) == 0 {
		_ = os.Remove(path)
		return
	}
	if text, err := indexOf(logs); err == nil {
		_ = file.Write(path, text, 0o600)
	}
}

package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/wording"
)

const (
	logEnding    = ".jsonl"
	folderEnding = ".d"
	idTime       = "2006-01-02T15-04-05Z"
)

// ErrNotFound says that a store has no session of that id.
var ErrNotFound = errors.New("no such session")

// An AmbiguousError says that a prefix fits the ids of several sessions.
type AmbiguousError struct {
	Prefix string
	IDs    []string // in order, oldest first
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits %d sessions, among them %s and %s", e.Prefix, len(e.IDs), wording.Path(e.IDs[0]), wording.Path(e.IDs[1]))
}

// A Store is a directory of session logs.
type Store struct {
	dir string // absolute
}

// NewStore returns the store in a directory, which need not exist.
func NewStore(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("session directory %s: %w", dir, err)
	}
	return &Store{dir: abs}, nil
}

// Dir returns the absolute path of the directory.
func (s *Store) Dir() string { return s.dir }

// Create begins the log of a session. The caller closes the recorder, unless it has handled
// [loop.Finished].
func (s *Store) Create(prompt string, at time.Time) (*Recorder, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make session directory: %w", err)
	}
	for id := range idsOf(prompt, at) {
		r, err := create(s.Path(id))
		if !errors.Is(err, fs.ErrExist) {
			return r, err
		}
	}
	return nil, fmt.Errorf("create session log in %s: %w", s.dir, errNamesTaken)
}

var errNamesTaken = errors.New("all names are taken")

// idsOf yields the ids that a session may have, best first.
func idsOf(prompt string, at time.Time) iter.Seq[string] {
	sum := sha256.Sum256([]byte(prompt))
	name := Dated(at, hex.EncodeToString(sum[:3]))
	return func(yield func(string) bool) {
		if !yield(name) {
			return
		}
		for n := 2; n < 10_000; n++ {
			if !yield(fmt.Sprintf("%s-%d", name, n)) {
				return
			}
		}
	}
}

func newRecorder(path string) *Recorder {
	dir := folderOf(path)
	return &Recorder{id: strings.TrimSuffix(filepath.Base(path), logEnding), path: path, files: folder{dir: dir}, limit: MaxLine}
}

// folderOf is the folder beside a log.
func folderOf(path string) string { return strings.TrimSuffix(path, logEnding) + folderEnding }

// create makes a log and its folder, both new.
func create(path string) (*Recorder, error) {
	r := newRecorder(path)
	if err := os.Mkdir(r.files.dir, 0o700); err != nil {
		return nil, fmt.Errorf("create session log: %w", err)
	}
	log, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		r.files.removeEmpty()
		return nil, fmt.Errorf("create session log: %w", err)
	}
	if r.written, err = testify(log, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("create session log: %w", err), log.Close())
	}
	r.log = log
	// Only Running asks for this lock. A file system without locks loses that
	// answer, not the session.
	_, _ = lockAlone(log)
	return r, nil
}

// Find returns the id that begins with prefix, or whose hash does. The error is [ErrNotFound] or
// an [*AmbiguousError] if there is not exactly one.
func (s *Store) Find(prefix string) (string, error) {
	ids, err := s.list()
	if err != nil {
		return "", err
	}
	prefix = strings.TrimSuffix(prefix, logEnding)
	if slices.Contains(ids, prefix) {
		return prefix, nil
	}
	fits := slices.DeleteFunc(ids, func(id string) bool {
		_, hash, _ := strings.Cut(id, "_")
		return prefix == "" || !strings.HasPrefix(id, prefix) && !strings.HasPrefix(hash, prefix)
	})
	switch len(fits) {
	case 0:
		return "", fmt.Errorf("%w: %q in %s", ErrNotFound, prefix, s.dir)
	case 1:
		return fits[0], nil
	}
	return "", &AmbiguousError{Prefix: prefix, IDs: fits}
}

// Latest returns the id of the session that began last, of those that are not empty and count; nil counts all.
func (s *Store) Latest(counts func(Overview) bool) (string, error) {
	all, err := s.Survey()
	for _, one := range all {
		if one.Size > 0 && (counts == nil || counts(one)) {
			return one.ID, nil
		}
	}
	return "", cmp.Or(err, fmt.Errorf("%w: %s holds none", ErrNotFound, s.dir))
}

// second returns the time in an id, which is precise to the second.
func second(id string) string {
	at, _, _ := strings.Cut(id, "_")
	return at
}

// Running reports whether a recorder of the session is open, in any process.
func (s *Store) Running(id string) (bool, error) {
	at, err := running(s.Path(id))
	if err != nil {
		err = fmt.Errorf("look whether session %s is running: %w", wording.Path(id), err)
	}
	return at, err
}

func running(path string) (bool, error) {
	f, _, err := openLog(path) // only locked, never read
	if err != nil {
		return false, err
	}
	free, err := file.TryLockFile(f, true)
	file.UnlockFile(f)
	return err == nil && !free, errors.Join(err, f.Close())
}

// Path returns the path of a session's log, whether it exists or not.
func (s *Store) Path(id string) string { return filepath.Join(s.dir, id+logEnding) }

// list returns the ids of all sessions, the oldest first as far as their names tell.
func (s *Store) list() (ids []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	type aged struct{ id, age string }
	var logs []aged
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), logEnding); ok && !entry.IsDir() {
			logs = append(logs, aged{id, age(id)})
		}
	}
	slices.SortFunc(logs, func(a, b aged) int {
		// A name that does not begin with a time does not tell its age.
		return cmp.Or(cmp.Compare(a.age, b.age), cmp.Compare(len(a.id), len(b.id)), cmp.Compare(a.id, b.id))
	})
	for _, one := range logs {
		ids = append(ids, one.id)
	}
	return ids, nil
}

func age(id string) string {
	if _, known := Began(id); !known {
		return ""
	}
	return second(id)
}

// Dated is a name that begins as the id of a session does: what has it is kept for as long.
func Dated(at time.Time, name string) string { return at.UTC().Format(idTime) + "_" + name }

// Began returns when a session began, by its id.
func Began(id string) (at time.Time, known bool) {
	at, err := time.Parse(idTime, second(id))
	return at, err == nil
}

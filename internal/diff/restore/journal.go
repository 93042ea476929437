package restore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/file"
)

// A phase is the progress of a restore.
type phase string

const (
	preparing phase = "preparing" // nothing in the work tree has been moved
	applying  phase = "applying"
	done      phase = "done" // except that the stages are still there
	kept      phase = "kept" // nothing is left to do
)

// A journal describes a restore. It is written before the restore begins, in a directory of its own.
type journal struct {
	WorkTree string    `json:"work_tree"`
	Title    string    `json:"restored"`
	At       time.Time `json:"at"`
	Phase    phase     `json:"phase"`
	Token    string    `json:"token"`  // ends the names of the stages
	Stages   []Name    `json:"stages"` // directories that contain one
	// Moves begin with the paths that are only removed, the deepest first.
	Moves []move   `json:"files"`
	Dirs  []folder `json:"directories"` // that existed, sorted by path

	name  string
	dir   string
	files *os.Root // with the kept files
}

// wasDir returns the permissions that a directory had, and whether it existed.
func (j *journal) wasDir(dir string) (perm fs.FileMode, was bool) {
	i, was := slices.BinarySearchFunc(j.Dirs, dir, func(f folder, dir string) int { return strings.Compare(string(f.Path), dir) })
	if !was {
		return 0, false
	}
	return j.Dirs[i].Perm, true
}

func (j *journal) stage(at int) string { return path.Join(string(j.Stages[at]), stagePrefix+j.Token) }

func (j *journal) staged(what string, i int) string {
	return path.Join(j.stage(j.Moves[i].Stage), what+strconv.Itoa(i))
}

func (j *journal) old(i int) string   { return j.staged("old-", i) }
func (j *journal) fresh(i int) string { return j.staged("new-", i) }

// stayed returns the paths at which somebody else has put something.
func (j *journal) stayed() (paths []string) {
	for _, m := range j.Moves {
		if m.Stayed {
			paths = append(paths, string(m.Path))
		}
	}
	slices.Sort(paths)
	return paths
}

// isPlace reports whether a directory is to become a [Place].
func (j *journal) isPlace(dir string) bool {
	return slices.ContainsFunc(j.Moves, func(m move) bool { return string(m.Path) == dir && m.After == Place })
}

// A move is a change with what is needed to undo it.
type move struct {
	Path       Name        `json:"path"`
	Before     Kind        `json:"before,omitempty"`
	BeforePerm fs.FileMode `json:"before_permissions,omitempty"`
	BeforeSum  string      `json:"before_sha256,omitempty"`
	After      Kind        `json:"after,omitempty"`
	Perm       fs.FileMode `json:"permissions,omitempty"`
	Sum        string      `json:"sha256,omitempty"`
	Stage      int         `json:"stage,omitempty"`
	Stayed     bool        `json:"stayed,omitempty"`

	to State // not in the journal
}

// A Name is a path. It can have any bytes, which JSON strings cannot.
type Name string

// MarshalText implements [encoding.TextMarshaler].
func (n Name) MarshalText() ([]byte, error) { return []byte(strconv.QuoteToASCII(string(n))), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *Name) UnmarshalText(text []byte) error {
	s, err := strconv.Unquote(string(text))
	*n = Name(s)
	return err
}

const (
	openJournal = "open.json" // of an unfinished restore
	keptJournal = "kept.json"
	filesDir    = "files"
	idTime      = "2006-01-02T15-04-05Z"
)

// begin makes the directory of a restore, under the time and perhaps a number.
func (k *Keep) begin(j *journal) error {
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return err
	}
	err := fs.ErrExist
	for n := 1; errors.Is(err, fs.ErrExist); n++ {
		if j.name = j.At.Format(idTime); n > 1 {
			j.name += fmt.Sprintf("-%d", n)
		}
		j.dir = filepath.Join(k.Dir, j.name)
		err = os.Mkdir(j.dir, 0o700)
	}
	if err != nil {
		return err
	}
	err = errors.Join(os.Mkdir(j.keptFiles(), 0o700), file.SyncDir(k.Dir, (*os.File).Sync))
	if err == nil {
		j.files, err = os.OpenRoot(j.keptFiles())
	}
	if err == nil {
		err = j.save(preparing)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(j.dir))
	}
	return nil
}

func (j *journal) close() { _ = j.files.Close() } // what was written is synced

func (j *journal) keptFiles() string { return filepath.Join(j.dir, filesDir) }

// save replaces the journal atomically.
func (j *journal) save(p phase) error {
	next := *j
	next.Phase = p
	text, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return err
	}
	to := openJournal
	if p == kept {
		to = keptJournal
	}
	err = file.Write(filepath.Join(j.dir, to), append(text, '\n'), 0o600)
	if err == nil && p == kept {
		err = errors.Join(os.Remove(filepath.Join(j.dir, openJournal)), file.SyncDir(j.dir, (*os.File).Sync))
	}
	if err == nil {
		j.Phase = p
	}
	return err
}

// read reads a journal. The error is [fs.ErrNotExist] where there is none of that name.
func (k *Keep) read(dir, name string) (*journal, error) {
	j := &journal{name: dir, dir: filepath.Join(k.Dir, dir)}
	text, err := os.ReadFile(filepath.Join(j.dir, name))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(j.dir, name), err)
	}
	j.files, err = os.OpenRoot(filepath.Join(j.dir, filesDir))
	return j, err
}

// each calls do for every journal of that file name, and closes it.
func (k *Keep) each(name string, do func(*journal) error) error {
	entries, err := os.ReadDir(k.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		j, readErr := k.read(e.Name(), name)
		if errors.Is(readErr, fs.ErrNotExist) {
			continue
		}
		if readErr == nil {
			readErr = do(j)
			j.close()
		}
		err = errors.Join(err, readErr)
	}
	return err
}

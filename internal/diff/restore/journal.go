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

// A record describes a restore. It is written before the restore begins.
type record struct {
	WorkTree string    `json:"work_tree"`
	Title    string    `json:"restored"`
	At       time.Time `json:"at"`
	Phase    phase     `json:"phase"`
	Token    string    `json:"token"`  // ends the names of the stages
	Stages   []name    `json:"stages"` // directories that contain one
	Moves    []move    `json:"files"`
	Dirs     []folder  `json:"directories"` // that existed, sorted by path
}

// wasDir returns the permissions that a directory had, and whether it existed.
func (r *record) wasDir(dir string) (perm fs.FileMode, was bool) {
	i, was := slices.BinarySearchFunc(r.Dirs, dir, func(f folder, dir string) int { return strings.Compare(string(f.Path), dir) })
	if !was {
		return 0, false
	}
	return r.Dirs[i].Perm, true
}

func (r *record) stage(at int) string { return path.Join(string(r.Stages[at]), stagePrefix+r.Token) }

func (r *record) staged(what string, i int) string {
	return path.Join(r.stage(r.Moves[i].Stage), what+strconv.Itoa(i))
}

func (r *record) old(i int) string   { return r.staged("old-", i) }
func (r *record) fresh(i int) string { return r.staged("new-", i) }

// stayed returns the paths at which somebody else has put something.
func (r *record) stayed() (paths []string) {
	for _, m := range r.Moves {
		if m.Stayed {
			paths = append(paths, string(m.Path))
		}
	}
	return paths
}

// isPlace reports whether a directory is to become a [Place].
func (r *record) isPlace(dir string) bool {
	return slices.ContainsFunc(r.Moves, func(m move) bool { return string(m.Path) == dir && m.After == Place })
}

// A move is a change with what is needed to undo it.
type move struct {
	Path       name        `json:"path"`
	Before     Kind        `json:"before,omitempty"`
	BeforePerm fs.FileMode `json:"before_permissions,omitempty"`
	BeforeSum  string      `json:"before_sha256,omitempty"`
	After      Kind        `json:"after,omitempty"`
	Perm       fs.FileMode `json:"permissions,omitempty"`
	Sum        string      `json:"sha256,omitempty"`
	Stage      int         `json:"stage,omitempty"`
	Stayed     bool        `json:"stayed,omitempty"`
}

// A name is a path. It can have any bytes, which JSON strings cannot.
type name string

func (n name) MarshalText() ([]byte, error) { return []byte(strconv.QuoteToASCII(string(n))), nil }

func (n *name) UnmarshalText(text []byte) error {
	s, err := strconv.Unquote(string(text))
	*n = name(s)
	return err
}

// A journal is a record on the disk, in a directory of its own.
type journal struct {
	*record
	name  string
	dir   string
	files *os.Root // with the kept files
}

const (
	openJournal = "open.json" // of an unfinished restore
	keptJournal = "kept.json"
	filesDir    = "files"
	idTime      = "2006-01-02T15-04-05Z"
)

// begin makes the directory of a restore, under the time and perhaps a number.
func (k *Keep) begin(r *record) (*journal, error) {
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return nil, err
	}
	j := &journal{record: r}
	err := fs.ErrExist
	for n := 1; errors.Is(err, fs.ErrExist); n++ {
		if j.name = r.At.Format(idTime); n > 1 {
			j.name += fmt.Sprintf("-%d", n)
		}
		j.dir = filepath.Join(k.Dir, j.name)
		err = os.Mkdir(j.dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.Mkdir(j.keptFiles(), 0o700), file.SyncDir(k.Dir, (*os.File).Sync))
	if err == nil {
		j.files, err = os.OpenRoot(j.keptFiles())
	}
	if err == nil {
		err = j.save(preparing)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(j.dir))
	}
	return j, nil
}

func (j *journal) close() { _ = j.files.Close() } // what was written is synced

func (j *journal) keptFiles() string { return filepath.Join(j.dir, filesDir) }

// save replaces the journal atomically.
func (j *journal) save(p phase) error {
	next := *j.record
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
	j := &journal{record: &record{}, name: dir, dir: filepath.Join(k.Dir, dir)}
	text, err := os.ReadFile(filepath.Join(j.dir, name))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, j.record); err != nil {
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

package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"

	"codeloops/internal/file"
)

// Trust records that the user trusts a project file with its current content; the name ""
// is that of the one that applies in the working directory. It returns the file's name, and the keys that need
// trust, in the order of the file ("checks", "agents.mine"). A file with problems cannot be
// trusted.
func Trust(o Options, name string) (trusted string, keys []string, _ error) {
	paths, err := Locate(o)
	switch {
	case name != "":
		paths.Project = filepath.Clean(name)
	case err != nil:
		return "", nil, err
	case paths.Project == "":
		return "", nil, &Error{
			Problem: fmt.Sprintf("no %s here or above, up to the repository's root", projectFile),
			Hint:    "codeloops init writes one",
			err:     fs.ErrNotExist,
		}
	}
	r, problems := o.file(newSchema(), paths.Project, Project)
	if err := problems.orNil(); err != nil {
		return "", nil, err
	}
	if paths.Trust == "" {
		return "", nil, noHome("keep what is trusted", "XDG_DATA_HOME")
	}
	return paths.Project, keysOf(r.guarded), trustStore{paths.Trust}.add(paths.Project, r.digest)
}

func keysOf(guarded []*Error) []string {
	keys := make([]string, len(guarded))
	for i, g := range guarded {
		keys[i] = g.Key
	}
	return keys
}

// A ProjectFile is a project file as it was at one time.
type ProjectFile struct {
	Path    string `json:"path"` // from the root of the repository, with slashes; "": there was none
	Text    string `json:"text"`
	Trusted bool   `json:"trusted,omitempty"` // by the user, at that time
}

// ReadProject reads the project file that applies in the working directory.
func ReadProject(o Options) (*ProjectFile, error) {
	paths, err := Locate(o)
	if err != nil || paths.Project == "" {
		return &ProjectFile{}, err
	}
	content, problem := readFile(paths.Project)
	if problem != nil {
		return nil, problem
	}
	trusted, problem := trustStore{paths.Trust}.holds(paths.Project, digest(content))
	if problem != nil {
		return nil, problem
	}
	path, err := filepath.Rel(resolved(o.RepositoryRoot), paths.Project)
	return &ProjectFile{Path: filepath.ToSlash(path), Text: string(content), Trusted: trusted || o.TrustProject}, err
}

// untrusted is the error for a file with keys that need trust.
func untrusted(guarded []*Error) *Error {
	names := keysOf(guarded)
	verb := " counts"
	if len(names) > 1 {
		verb = " count"
	}
	return &Error{
		File: guarded[0].File, Line: guarded[0].Line, Key: guarded[0].Key,
		Problem: strings.Join(names, ", ") + verb + " only in a file that you trust, and you have not trusted this one as it is now",
		Hint:    "read it, then run `codeloops config trust`, or pass --trust-project for one run",
		err:     ErrUntrusted,
	}
}

// A trustStore is the file that holds the digest of every trusted file, by its path
// without symbolic links. The file "" holds none.
type trustStore struct{ file string }

type trustFile struct {
	Version int               `json:"version"`
	Files   map[string]string `json:"files"` // path to the content's SHA-256, in hex
}

func (s trustStore) holds(name, digest string) (bool, *Error) {
	known, problem := s.read()
	if problem != nil {
		return false, problem
	}
	return known.Files[resolved(name)] == digest, nil
}

func (s trustStore) add(name, digest string) error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return fmt.Errorf("trust %s: %w", name, err)
	}
	unlock, err := lockedfile.MutexAt(s.file + ".lock").Lock() // another process may add a file of its own
	if err != nil {
		return fmt.Errorf("trust %s: %w", name, err)
	}
	defer unlock()
	known, problem := s.read()
	if problem != nil {
		return problem
	}
	known.Version = 1
	known.Files[resolved(name)] = digest
	text, err := json.MarshalIndent(known, "", "  ")
	if err == nil {
		err = file.Write(s.file, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("trust %s: %w", name, err)
	}
	return nil
}

func (s trustStore) read() (trustFile, *Error) {
	known := trustFile{Files: map[string]string{}}
	if s.file == "" {
		return known, nil
	}
	text, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return known, unreadable(s.file, err)
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return known, &Error{
			File: s.file, Problem: "not a list of trusted files: " + err.Error(),
			Hint: "remove the file; project files then need trust again", err: err,
		}
	}
	if known.Files == nil {
		known.Files = map[string]string{}
	}
	return known, nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

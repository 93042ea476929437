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

// TrustedIn reports whether the project file that applies in dir has the same content as
// the one that applies in the working directory and that the user trusts there.
func TrustedIn(o Options, dir string) (bool, error) {
	trusted, err := TrustedDigest(o)
	if err != nil || trusted == "" {
		return false, err
	}
	o.WorkingDir, o.RepositoryRoot = dir, dir
	other, err := ProjectDigest(o)
	return other == trusted, err
}

// TrustedDigest returns the [ProjectDigest] of the project file that applies in the
// working directory; "" if there is none or the user does not trust it.
func TrustedDigest(o Options) (string, error) {
	paths, is, err := o.digest()
	if err != nil || is == "" {
		return "", err
	}
	trusted, problem := trustStore{paths.Trust}.holds(paths.Project, is)
	switch {
	case problem != nil:
		return "", problem
	case !trusted:
		return "", nil
	}
	return is, nil
}

// ProjectDigest returns a digest of the project file that applies in the working
// directory; "" if there is none.
func ProjectDigest(o Options) (string, error) {
	_, is, err := o.digest()
	return is, err
}

func (o Options) digest() (Paths, string, error) {
	paths, err := Locate(o)
	if err != nil || paths.Project == "" {
		return paths, "", err
	}
	content, problem := readFile(paths.Project)
	switch {
	case problem == nil:
		return paths, digest(content), nil
	case errors.Is(problem, fs.ErrNotExist): // a broken link
		return paths, "", nil
	}
	return paths, "", problem
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

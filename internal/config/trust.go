package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/file"
)

// Trust records that the user trusts a project file with its current content; the name ""
// is that of the one that applies in the working directory. It returns the file's name, and the keys that need
// trust, in the order of the file ("checks", "agents.mine"). A file with problems cannot be
// trusted.
func Trust(o Options, name string) (trusted string, keys []string, _ error) {
	paths, err := Locate(o)
	if err != nil && name == "" {
		return "", nil, err
	}
	if name = cmp.Or(name, paths.Project); name == "" {
		return "", nil, &Error{
			Problem: "there is nothing to trust: no " + projectFile + " here or above, up to the repository's root, and no file from which agents run something, such as .claude/settings.json",
			Hint:    "codeloops init writes a " + projectFile,
			err:     fs.ErrNotExist,
		}
	}
	name = filepath.Clean(name)
	r := o.file(name, Project)
	if len(r.problems) > 0 {
		return "", nil, r.problems.orNil()
	}
	return name, r.guardedKeys(), addTrusted(paths.Trust, name, r.digest)
}

// guardedKeys are the keys of the file that need trust.
func (r *fileReader) guardedKeys() []string {
	keys := make([]string, len(r.guarded))
	for i, g := range r.guarded {
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
	content, err := readFile(paths.Project)
	if err != nil {
		return nil, err
	}
	known, err := readTrusted(paths.Trust)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Rel(resolved(o.RepositoryRoot), paths.Project)
	return &ProjectFile{Path: filepath.ToSlash(path), Text: string(content), Trusted: o.TrustProject || known.holds(paths.Project, digest(content))}, err
}

// distrust reports a project file with keys that need trust, if it is not trusted.
func (o Options) distrust(r *fileReader, store string) error {
	if len(r.guarded) == 0 || o.TrustProject || o.Project != nil && o.Project.Trusted {
		return nil
	}
	if known, err := readTrusted(store); err != nil || known.holds(r.name, r.digest) {
		return err
	}
	names, verb := r.guardedKeys(), " counts"
	if len(names) > 1 {
		verb = " count"
	}
	return &Error{
		File: r.name, Line: r.guarded[0].Line, Key: names[0],
		Problem: strings.Join(names, ", ") + verb + " only in a file that you trust, and you have not trusted this one as it is now",
		Hint:    "read it, then run `codeloops config trust`, or pass --trust-project for one run",
		err:     ErrUntrusted,
	}
}

// A trusted is what the user trusts: the SHA-256 of every file's content, by its path without symbolic links.
type trusted map[string]string

func (t trusted) holds(name, digest string) bool { return t[resolved(name)] == digest }

func digest(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

type trustFile struct {
	Version int     `json:"version"`
	Files   trusted `json:"files"`
}

// readTrusted reads the file that holds what is trusted. The file "" holds nothing.
func readTrusted(store string) (trusted, error) {
	text, err := os.ReadFile(store)
	if store == "" || errors.Is(err, fs.ErrNotExist) {
		return trusted{}, nil
	}
	if err != nil {
		return nil, unreadable(store, err)
	}
	var known trustFile
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, &Error{
			File: store, Problem: "not a list of trusted files: " + err.Error(),
			Hint: "remove the file; project files then need trust again", err: err,
		}
	}
	return known.Files, nil
}

// addTrusted adds a file to what is trusted.
func addTrusted(store, name, digest string) (err error) {
	if store == "" {
		return noHome("keep what is trusted", "XDG_DATA_HOME")
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("trust %s: %w", name, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(store), 0o700); err != nil {
		return err
	}
	unlock, err := file.Lock(store + ".lock") // another process may add a file of its own
	if err != nil {
		return err
	}
	defer unlock()
	known, err := readTrusted(store)
	if err != nil {
		return err
	}
	all := trusted{}
	maps.Copy(all, known)
	all[resolved(name)] = digest
	text, err := json.MarshalIndent(trustFile{1, all}, "", "  ")
	if err != nil {
		return err
	}
	return file.Write(store, append(text, '\n'), 0o600)
}

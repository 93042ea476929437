package place

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"codeloops/internal/file"
)

// A record is what git does not know about a place.
type record struct {
	Start   string   `json:"start,omitempty"`   // the commit that the work in it begins at
	Set     []string `json:"set,omitempty"`     // where codeloops puts the branch, and had put it before
	Ready   bool     `json:"ready,omitempty"`   // it was made, and nobody removes it
	Brought []string `json:"brought,omitempty"` // copied from the user's work tree; with slashes
	// Beside are the entries of what the setup command has left, by path.
	Beside map[string]string `json:"beside,omitempty"`

	file string // its path
	kept bool   // whether the file exists
}

func (r *record) load() error {
	text, err := os.ReadFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return fmt.Errorf("read the record of a work tree in %s: %w", r.file, err)
	}
	r.kept = true
	return nil
}

func (r *record) save() error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := file.Write(r.file, text, 0o600); err != nil {
		return err
	}
	r.kept = true
	return nil
}

// brings reports whether a path was brought.
func (r *record) brings(path string) bool {
	for _, of := range r.Brought {
		if path = strings.TrimSuffix(path, "/"); path == of || strings.HasPrefix(path, of+"/") {
			return true
		}
	}
	return false
}

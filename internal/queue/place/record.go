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

// recordEnding is the suffix of records.
const recordEnding = ".json"

// A record is what git does not know about a place.
type record struct {
	Base     string   `json:"base"` // where the branch began
	Ready    bool     `json:"ready"`
	Removing bool     `json:"removing,omitempty"` // its contents are no longer needed
	Brought  []string `json:"brought,omitempty"`  // copied from the user's work tree; with slashes
	Update   *update  `json:"update,omitempty"`   // the last one
	// Beside are the entries of what is not part of the work, such as what the setup command has left, by path.
	Beside map[string]string `json:"beside,omitempty"`
	// Judged are the entries that a critic has approved since the last commit, by path.
	Judged map[string]string `json:"judged,omitempty"`

	file string // its path
	kept bool   // whether the file exists
}

// An update is a merge of the target into the place's branch.
type update struct {
	Ours   string   `json:"ours"`
	Theirs string   `json:"theirs"`
	Files  []string `json:"files,omitempty"` // with conflicts, until they are committed
	Begun  bool     `json:"begun,omitempty"` // still in progress; nothing was uncommitted before it
	// Marked are the entries of the files with conflicts, as git has left them.
	Marked map[string]string `json:"marked,omitempty"`
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

// beside reports whether something in the work tree is not to be committed.
func (r *record) beside(path string) bool {
	_, is := r.Beside[path]
	return is || r.brings(path)
}

// marked is the entry of a file with conflicts, as git has left it; "" for others.
func (r *record) marked(path string) string {
	if r.Update == nil {
		return ""
	}
	return r.Update.Marked[path]
}

// conflicts lists the files with conflicts in the last update, until they are committed without.
func (r *record) conflicts() []string {
	if r.Update == nil {
		return nil
	}
	return r.Update.Files
}

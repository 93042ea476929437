package place

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// recordEnding ends the name of a record.
const recordEnding = ".json"

// A record is what is known of a place beside what git knows.
type record struct {
	Base     string   `json:"base"` // that the branch began at
	Ready    bool     `json:"ready"`
	Removing bool     `json:"removing,omitempty"` // nothing in it is needed any more
	Brought  []string `json:"brought,omitempty"`  // from the user's work tree, with slashes
	Update   *update  `json:"update,omitempty"`   // the last one

	kept bool // in a file
}

// An update is a merge of the target into the place's branch.
type update struct {
	Ours   string   `json:"ours"`
	Theirs string   `json:"theirs"`
	Files  []string `json:"files,omitempty"` // with conflicts, until they are committed
	Begun  bool     `json:"begun,omitempty"` // and not over: there was nothing uncommitted before
}

func (p *Place) recordFile() string { return filepath.Join(p.site.records, p.Task+recordEnding) }

func (p *Place) load() error {
	text, err := os.ReadFile(p.recordFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p.rec)
	}
	if err != nil {
		return fmt.Errorf("read the record of task %s in %s: %w", p.Task, p.recordFile(), err)
	}
	p.rec.kept = true
	return nil
}

func (p *Place) save() error {
	text, err := json.Marshal(p.rec)
	if err != nil {
		return err
	}
	draft := p.recordFile() + ".new"
	if err := os.WriteFile(draft, text, 0o600); err != nil {
		return err
	}
	p.rec.kept = true
	return os.Rename(draft, p.recordFile())
}

// isBrought reports whether a path was brought.
func (p *Place) isBrought(path string) bool {
	for _, of := range p.rec.Brought {
		if path = strings.TrimSuffix(path, "/"); path == of || strings.HasPrefix(path, of+"/") {
			return true
		}
	}
	return false
}

// Package project knows the user's projects: the directories of sessions, and those that were added by hand.
package project

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/file"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Project is a directory in which runs work. A rate is a share of the ended sessions, from 0 to 1; nil if there are none.
type Project struct {
	Name        string    `json:"name"`
	Dir         string    `json:"dir"`
	Default     bool      `json:"default,omitempty"`
	Sessions    int       `json:"sessions"`
	SuccessRate *float64  `json:"success_rate"`
	FirstTry    *float64  `json:"first_try_rate"`
	CostUSD     *float64  `json:"cost_usd"` // as far as it is known
	Last        time.Time `json:"last,omitzero"`
}

// A Book is what the user has said of projects. Change it in [Edit].
type Book struct {
	Named   map[string]string `json:"named,omitempty"`   // those that were added: their names, by directory
	Removed []string          `json:"removed,omitempty"` // directories that are not listed, whatever was done there
	Default string            `json:"default,omitempty"` // a directory
}

// File is where the book of a user is, "" without a home directory.
func File(h *host.Host) string {
	if dir := h.Data(""); dir != "" {
		return filepath.Join(dir, "projects.json")
	}
	return ""
}

// Read reads the book in a file, which need not exist.
func Read(path string) (b Book, err error) {
	content, _, err := file.Read(path, file.Options{})
	if file.Missing(err) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &b)
	}
	if err != nil {
		return b, hint.Add(fmt.Errorf("read the projects in %s: %w", wording.Path(path), err), "mend or remove that file")
	}
	return b, nil
}

// Edit changes the book in a file. No other process does so at the same time.
func Edit(path string, change func(*Book) error) error {
	if path == "" {
		return hint.Errorf("set HOME or XDG_DATA_HOME", "there is no directory for the projects: the home directory is not known")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	unlock, err := file.Lock(path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	b, err := Read(path)
	if err == nil {
		err = change(&b)
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return file.Write(path, append(text, '\n'), 0o600)
}

// Add adds a directory under a name; "" is the last part of its path.
func (b *Book) Add(dir, name string) {
	if b.Named == nil {
		b.Named = map[string]string{}
	}
	b.Named[dir] = cmp.Or(name, filepath.Base(dir))
	b.Removed = slices.DeleteFunc(b.Removed, func(other string) bool { return other == dir })
}

// Remove has a directory listed no more.
func (b *Book) Remove(dir string) {
	delete(b.Named, dir)
	if !slices.Contains(b.Removed, dir) {
		b.Removed = append(b.Removed, dir)
	}
	if b.Default == dir {
		b.Default = ""
	}
}

// List returns the projects, given all sessions: the default first, then the one that was worked in last.
func (b *Book) List(all []session.Overview) []Project {
	in := map[string][]session.Overview{}
	project := sessionview.Projects(all)
	for _, o := range all {
		dir := project(o)
		ownsTree := o.Session.Task != "" && dir == o.Session.WorkingDir // it goes with the task
		if filepath.IsAbs(dir) && !ownsTree && !slices.Contains(b.Removed, dir) {
			in[dir] = append(in[dir], o)
		}
	}
	for dir := range b.Named {
		if _, known := in[dir]; !known {
			in[dir] = nil // nothing was done there yet
		}
	}
	list := []Project{}
	for dir, of := range in {
		sums := sessionview.NewStats(of)
		p := Project{
			Name: cmp.Or(b.Named[dir], filepath.Base(dir)), Dir: dir, Default: dir == b.Default,
			Sessions: sums.Sessions, SuccessRate: sums.SuccessRate, FirstTry: sums.FirstTry,
		}
		if sums.Cost.Sessions > 0 {
			p.CostUSD = &sums.Cost.USD
		}
		for _, o := range of {
			if o.Started.After(p.Last) {
				p.Last = o.Started
			}
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y Project) int {
		if x.Default != y.Default {
			return map[bool]int{true: -1, false: 1}[x.Default]
		}
		return cmp.Or(y.Last.Compare(x.Last), strings.Compare(x.Name, y.Name), strings.Compare(x.Dir, y.Dir))
	})
	return list
}

// ErrNone is a project that is not known.
var ErrNone = errors.New("there is no such project")

// Find returns the project of a directory, or the only one of a name.
func Find(all []Project, ref, dir string) (Project, error) {
	var found []Project
	for _, p := range all {
		if p.Dir == dir {
			return p, nil
		}
		if p.Name == ref {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return Project{}, hint.Add(fmt.Errorf("%w: %s", ErrNone, wording.Name(ref)), "`codeloops project list` names them")
	case 1:
		return found[0], nil
	}
	return Project{}, hint.Errorf("give the directory", "%d projects have the name %s", len(found), wording.Name(ref))
}

// Package queue is the vocabulary of a backlog: what a task is, its state, and which task is next. It does no I/O
// and reads no clock.
//
// Its packages: hub is the server, board keeps the records and hands out tasks, work runs the workers, play plays
// one task, place is its work tree, merge merges its result, source is where tasks come from.
package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"

	"codeloops/internal/config"
	"codeloops/internal/loop"
)

// A Task is a piece of work in a repository. It does not change once it has been added.
type Task struct {
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
	// Repository is where the work is done.
	Repository Repository `json:"repository"`
	// Dir is where it was added, relative to the root, with slashes; "" is the root. Agents, checks and the setup
	// command run there, with the project's configuration that applies there.
	Dir string `json:"dir,omitempty"`
	// Project is the project's configuration file that applied there; what agents make of it meanwhile does not count.
	Project *config.ProjectFile `json:"project,omitempty"`
	// Global is the digest of the user's configuration file at that time, of which the home has a copy; "" is unknown.
	Global string `json:"global,omitempty"`
	// Target is the branch that the result is merged into, without refs/heads/.
	Target string      `json:"target"`
	Flags  []loop.Flag `json:"flags,omitempty"` // settings of its run, by the names of config.Flags
	// Cast is who would play each role where the task was added, the preferred agent first, with
	// its model.
	Cast [][]string `json:"cast,omitempty"`
	// After are tasks that must be merged before this one begins.
	After    []string `json:"after,omitempty"`
	Priority int      `json:"priority,omitempty"` // higher ones come first
	// Setup is the user's command that prepares a new work tree; "" is none.
	Setup string `json:"setup,omitempty"`
	// Unmerged leaves the result on the task's branch.
	Unmerged bool `json:"unmerged,omitempty"`
	// Asks has a result merged only once the user has accepted it.
	Asks bool `json:"asks,omitempty"`
	// Request opens a pull request with the result, which is then merged there.
	Request bool `json:"request,omitempty"`
	// Squash merges the result as one commit, which keeps the history of the target linear.
	Squash bool      `json:"squash,omitempty"`
	Origin Origin    `json:"origin,omitzero"`
	Added  time.Time `json:"added"`
	Order  int       `json:"order,omitempty"` // among those that were added together
}

// A Repository is one user's repository on one machine.
type Repository struct {
	Home string `json:"home"` // the user's home; see [Repository.At]
	Root string `json:"root"` // absolute path of its main work tree
}

// At reports whether the repository belongs to this home.
func (r Repository) At(home string) bool { return r.Home == home }

// Key is a short name for the repository.
func (r Repository) Key() string { return digest(r.Home, r.Root)[:12] }

// An Origin is where a task came from. It is told the outcome.
type Origin struct {
	Kind string `json:"kind"` // checklist, prd, command
	Name string `json:"name"` // of the file, the repository or the program
	Key  string `json:"key"`  // of the task there
}

// Title is the first line of the prompt.
func (t *Task) Title() string {
	first, _, _ := strings.Cut(strings.TrimSpace(t.Prompt), "\n")
	return strings.TrimSpace(strings.TrimLeft(first, "# "))
}

// Branch is the task's own branch, without refs/heads/.
func (t *Task) Branch() string { return "codeloops/" + t.ID }

// Name sets the task's ID, from its title and a hash: the same prompt for the same directory, or the same task of
// the same origin, gets the same ID.
func (t *Task) Name() {
	what := t.Prompt
	if t.Dir != "" {
		what = t.Dir + "\x00" + what
	}
	if t.Origin.Key != "" {
		what = strings.Join([]string{t.Origin.Kind, t.Origin.Name, t.Origin.Key}, "\x00")
	}
	t.ID = slug(t.Title()) + digest(t.Repository.Home, t.Repository.Root, what)[:6]
}

// slug returns the beginning of an ID: the first words of a title, each followed by a dash.
func slug(title string) string {
	const most = 4
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	var b strings.Builder
	for _, w := range words[:min(len(words), most)] {
		b.WriteString(w[:min(len(w), 12)] + "-")
	}
	return b.String()
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

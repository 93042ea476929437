// Package source reads tasks from a checklist, the stories of a prd.json, or a user's program, and reports results to
// them. It stores nothing itself.
//
// The contents of a source were written by others. They are used only as text of prompts.
package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// An Item is a task as its source describes it.
type Item struct {
	Key      string   `json:"key"`      // identifies it in every listing
	Prompt   string   `json:"prompt"`   // its title, a blank line, its details
	After    []string `json:"after"`    // keys of items in the same listing that come before it
	Priority int      `json:"priority"` // higher ones come first
	Done     bool     `json:"done"`     // already done, and not to be added

	at int // where it is in its file
}

// A Source lists tasks and is told their outcomes, possibly more than once. Its methods may be called
// concurrently, also by several processes.
type Source interface {
	// Kind and Name are stored with a task, to find its source again.
	Kind() string
	Name() string
	// List returns the items in order. Their keys are unique, and those in After are keys of the list.
	List(ctx context.Context) ([]Item, error)
	// Claim says that work on an item has begun. The error is [ErrTaken] if somebody else works on it.
	Claim(ctx context.Context, key string) error
	// Done says that the item's result is merged.
	Done(ctx context.Context, key string, r Result) error
	// Failed says that the item needs a person.
	Failed(ctx context.Context, key string, r Result) error
}

// A Result is the outcome of a task.
type Result struct {
	Task    string `json:"task"`
	Session string `json:"session,omitempty"`
	Commit  string `json:"commit,omitempty"`  // of the merge
	Summary string `json:"summary,omitempty"` // what was done, in the agent's words
	Why     string `json:"why,omitempty"`     // why it failed
	// Prompt is the text that was worked on. An item whose text in a file differs is left alone.
	Prompt string `json:"-"`
}

var (
	// ErrGone is the error of Done for an item that its source no longer has. Retrying does not help.
	ErrGone = errors.New("it is gone")
	// ErrChanged is the error of Done for an item whose text has changed. Retrying does not help.
	ErrChanged = errors.New("the work was done for the earlier text")
	// ErrTaken is the error of Claim for an item that somebody else works on.
	ErrTaken = errors.New("somebody else has taken it")
)

// SameText reports whether two prompts are the same apart from white space and ticked steps.
func SameText(a, b string) bool {
	plain := func(text string) string {
		return strings.NewReplacer("[x] ", "[ ] ", "[X] ", "[ ] ").Replace(strings.Join(strings.Fields(text), " "))
	}
	return plain(a) == plain(b)
}

// most is the limit of items in a source, as dependencies are computed for all of them.
const most = 5_000

// check returns an error for items that cannot be tasks.
func check(from string, items []Item) error {
	if len(items) > most {
		return hint.Errorf("take out what is done, or split it", "%s has %d items, more than %d", from, len(items), most)
	}
	keys := make([]string, len(items))
	for i, item := range items {
		if item.Prompt == "" {
			return hint.Errorf("give it a title", "%s: the item %s does not say what is to be done", from, wording.Quote(item.Key, 80))
		}
		if first := slices.Index(keys, item.Key); first >= 0 {
			return hint.Errorf("give each an ID of its own, such as T001", "%s: the items %s and %s cannot be told apart",
				from, items[first].title(), item.title())
		}
		keys[i] = item.Key
	}
	for _, item := range items {
		for _, key := range item.After {
			if slices.Contains(keys, key) {
				continue
			}
			tip := "name an item by its ID, such as T001, or by its key"
			if near, ok := wording.Nearest(key, keys); ok {
				tip = "did you mean " + near + "?"
			}
			return hint.Errorf(tip, "%s: %s comes after %s, which is none of the items", from, item.title(), wording.Quote(key, 80))
		}
	}
	return nil
}

// title is the first line of the item, quoted.
func (i *Item) title() string {
	title, _, _ := strings.Cut(i.Prompt, "\n")
	return wording.Quote(title, 60)
}

// digest is a short hash of a text without regard to white space, such as the key of an item that has no ID.
func digest(text string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ")))
	return hex.EncodeToString(sum[:6])
}

// Means are what sources need besides their names.
type Means struct {
	Runner interface {
		Run(context.Context, proc.Command) (proc.Result, error)
	} // a [proc.Runner]
	Dir string   // working directory of programs, absolute
	Env []string // complete
}

// Open returns the source of a kind with a name; see [Source].
func Open(kind, name string, m Means) (Source, error) {
	switch kind {
	case "checklist":
		return NewChecklist(name)
	case "prd":
		return NewStories(name)
	case "command":
		return &Program{Means: m, Path: name, Timeout: time.Minute}, nil
	}
	return nil, hint.Errorf("there are checklist, prd and command; a newer codeloops may know more",
		"tasks of the kind %s are not known", wording.Quote(kind, 40))
}

// KindOf guesses the kind of source from a file's name.
func KindOf(path string) string {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return "prd"
	}
	return "checklist"
}

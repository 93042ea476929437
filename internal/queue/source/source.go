// Package source says where the tasks of a backlog come from: a checklist, the stories of a
// prd.json, issues on GitHub, or a program of the user's. It keeps nothing itself.
//
// What a source holds was written by others. It becomes the text of prompts, and nothing else.
package source

import (
	"context"
	"errors"
	"slices"
	"strings"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// An Item is a task as its source has it.
type Item struct {
	Key      string   // names it there; the same at each listing
	Prompt   string   // its title, a blank line, its details
	After    []string // keys of items of the same listing that come before it
	Priority int      // higher ones come first
	Touches  []string // globs
	Done     bool     // it is done, says the source, and not to be added
}

// A Source lists tasks and is told what becomes of them. Told twice is told once. Its methods
// may be called at the same time, also by several processes.
type Source interface {
	// Kind and Name are what is kept with a task, by which its source is found again.
	Kind() string
	Name() string
	// List returns the items in the order of the source. No two have the same key.
	List(ctx context.Context) ([]Item, error)
	// Claim says that work on an item has begun. The error is [ErrTaken] where the source knows
	// that somebody else works on it.
	Claim(ctx context.Context, key string) error
	// Done says that the merge of its result has been verified.
	Done(ctx context.Context, key string, r Result) error
	// Failed says that it needs a person.
	Failed(ctx context.Context, key string, r Result) error
}

// A Result is what a source is told of the end of a task.
type Result struct {
	Task    string `json:"task"`
	Session string `json:"session,omitempty"`
	Commit  string `json:"commit,omitempty"`  // of the merge
	Summary string `json:"summary,omitempty"` // what was done, in the agent's words
	Why     string `json:"why,omitempty"`     // it failed
	// Prompt is what was asked. A file that has another text of the item by then is left alone.
	Prompt string `json:"-"`
}

var (
	// ErrGone is the error of Done for an item that its source does not have any more. There is
	// nothing to be told, and nothing to try again.
	ErrGone = errors.New("it is gone")
	// ErrChanged is the error of Done for an item that says something else than what was asked. There is
	// nothing to try again, either.
	ErrChanged = errors.New("what was done is what it said before")
	// ErrTaken is the error of Claim for an item that somebody else works on.
	ErrTaken = errors.New("somebody else has taken it")
)

// asked refuses the end of an item whose text is another one than was asked: nobody has worked on that. Which
// steps in it are ticked plays no part.
func asked(name string, items []Item, key string, r Result) error {
	for _, item := range items {
		if item.Key == key && !item.Done && r.Prompt != "" && !SameText(item.Prompt, r.Prompt) {
			return hint.Errorf("it stays open; to have it worked on as it is now: codeloops queue rm "+r.Task+", and import it again",
				"the text of %s was changed in %s: %w", item.name(), name, ErrChanged)
		}
	}
	return nil
}

// SameText reports whether two prompts of an item ask for the same: blanks, and which steps are ticked, play
// no part.
func SameText(a, b string) bool {
	plain := func(text string) string {
		return strings.NewReplacer("[x] ", "[ ] ", "[X] ", "[ ] ").Replace(strings.Join(strings.Fields(text), " "))
	}
	return plain(a) == plain(b)
}

// most is how many items a source may list: what comes after what is worked out for all of them.
const most = 5_000

// Pending returns the items that are not done. Where one comes after an item that is done, it
// comes after whatever that one came after: a box that was ticked out of turn opens no way past
// those above it.
func Pending(items []Item) (open []Item) {
	all := make(map[string]Item, len(items))
	for _, item := range items {
		all[item.Key] = item
	}
	for _, item := range items {
		if item.Done {
			continue
		}
		seen, after := map[string]bool{item.Key: true}, []string(nil) // through one that is done it may come after itself
		for queue := slices.Clone(item.After); len(queue) > 0; queue = queue[1:] {
			key := queue[0]
			if seen[key] {
				continue
			}
			seen[key] = true
			if before, known := all[key]; known && before.Done {
				queue = append(queue, before.After...)
			} else {
				after = append(after, key)
			}
		}
		item.After = after
		open = append(open, item)
	}
	return open
}

// name is what people call the item: its key, or what it says where that is made of it.
func (i *Item) name() string {
	title, _, _ := strings.Cut(i.Prompt, "\n")
	if i.Key == digest(strings.Join(strings.Fields(title), " ")) {
		return wording.Quote(title, 60)
	}
	return i.Key
}

// inOrder reports items that come after themselves.
func inOrder(name string, items []Item) error {
	const looking, fine = 1, 2
	after, state, names := map[string][]string{}, map[string]int{}, map[string]string{}
	for _, item := range items {
		names[item.Key] = item.name()
		if !item.Done { // else it waits for nothing
			after[item.Key] = item.After
		}
	}
	var walk func(key string) []string // from an item of a circle to itself, backwards
	walk = func(key string) []string {
		if state[key] != 0 {
			if state[key] == looking {
				return []string{key}
			}
			return nil
		}
		state[key] = looking
		for _, before := range after[key] {
			if circle := walk(before); circle != nil {
				if len(circle) == 1 || circle[0] != circle[len(circle)-1] {
					circle = append(circle, key)
				}
				return circle
			}
		}
		state[key] = fine
		return nil
	}
	for _, item := range items {
		if circle := walk(item.Key); circle != nil {
			for i, key := range circle {
				circle[i] = names[key]
			}
			return hint.Errorf("let one of them not wait for the other; what stands above comes first where nothing else is said",
				"%s: these items wait for each other: %s", name, strings.Join(circle, ", "))
		}
	}
	return nil
}

// known reports a name of an item that there is none of. Where says who names it.
func known(where, key string, keys []string) error {
	if slices.Contains(keys, key) {
		return nil
	}
	tip := "name an item by its ID, such as T001, or by its key"
	if near, ok := wording.Nearest(key, keys); ok {
		tip = "did you mean " + near + "?"
	}
	return hint.Errorf(tip, "%s comes after %s, which is none of the items", where, wording.Quote(key, 80))
}

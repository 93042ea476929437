package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Backlog is all tasks, by ID.
type Backlog map[string]*Record

// Sorted lists the tasks in the order in which they are to be worked on: by priority, then by when they were
// added.
func (b Backlog) Sorted() []*Record {
	all := slices.AppendSeq(make([]*Record, 0, len(b)), maps.Values(b)) // not nil, as JSON would show that
	slices.SortFunc(all, func(x, y *Record) int {
		return cmp.Or(cmp.Compare(y.Task.Priority, x.Task.Priority), x.Task.Added.Compare(y.Task.Added),
			cmp.Compare(x.Task.Order, y.Task.Order), strings.Compare(x.Task.ID, y.Task.ID))
	})
	return all
}

// Next returns the first task that may be offered now: its dependencies are merged, no limit or budget holds it back, and the worker is able to work on it; nil where there is none.
func (b Backlog) Next(now time.Time, holds *Holds, able func(id string) bool) *Record {
	for _, r := range b.Sorted() {
		if r.State == Waiting && able(r.Task.ID) && !now.Before(r.NotBefore) && b.blocked(r) == "" && holds.Held(r) == "" {
			return r
		}
	}
	return nil
}

// NextResult returns the result that is to be merged next in a repository; nil where there is none, or one is being merged
// there by somebody who is not lost. One that was sent back comes first: it has met conflicts already.
func (b Backlog) NextResult(of Repository, lost func(*Record) bool) (next *Record) {
	for _, r := range b {
		switch {
		case r.Task.Repository != of || !r.AwaitsMerge():
		case r.Taken > 0 && !lost(r):
			return nil
		case next == nil || before(r, next):
			next = r
		}
	}
	return next
}

// before reports whether a result is merged before another one.
func before(r, other *Record) bool {
	sent := func(r *Record) int { return map[bool]int{false: 1}[r.Feedback != ""] }
	return cmp.Or(cmp.Compare(sent(r), sent(other)), r.Since.Compare(other.Since), strings.Compare(r.Task.ID, other.Task.ID)) < 0
}

// blocked returns the first dependency of r that is not merged yet; "" is none. A removed task blocks nobody.
func (b Backlog) blocked(r *Record) string {
	for _, id := range r.Task.After {
		before, ok := b[id]
		if !ok || before.Done() {
			continue
		}
		return id
	}
	return ""
}

// Dependents lists the tasks that wait for one, and would begin without its result if it were removed.
func (b Backlog) Dependents(id string) (ids []string) {
	before := b[id]
	if before == nil || before.Done() {
		return nil
	}
	for _, r := range b.Sorted() {
		if r.State == Waiting && slices.Contains(r.Task.After, id) {
			ids = append(ids, r.Task.ID)
		}
	}
	return ids
}

// stuck reports whether r waits, directly or not, for a task that has ended without being merged. Somebody must
// look at that one, id.
func (b Backlog) stuck(r *Record) (id string, stuck bool) {
	for range len(b) { // a record may hold a cycle, although none can be added
		id := b.blocked(r)
		if id == "" {
			return "", false
		}
		if r = b[id]; r.State.Over() {
			return id, true
		}
	}
	return "", false
}

// Pending reports whether the task will go on by itself.
func (b Backlog) Pending(r *Record) bool {
	switch r.State {
	case Waiting:
		_, stuck := b.stuck(r)
		return !stuck
	case Running:
		return true
	case Finished:
		return r.AwaitsMerge()
	case Merged, NeedsHuman, Failed, Dead, Cancelled:
	}
	return false
}

// Waits says, for people, why a waiting task does not begin; "" where only a worker is missing.
func (b Backlog) Waits(r *Record, now time.Time, holds *Holds) string {
	if r.State != Waiting {
		return ""
	}
	if id, stuck := b.stuck(r); stuck {
		return fmt.Sprintf("after %s, which is %s", id, b[id].State)
	}
	if id := b.blocked(r); id != "" {
		return "after " + id
	}
	if why := holds.Held(r); why != "" {
		return why
	}
	if now.Before(r.NotBefore) {
		return "until " + r.NotBefore.Format(time.TimeOnly)
	}
	return ""
}

// Validate rejects new tasks with unknown or cyclic dependencies, or with texts that would be
// others once they are stored.
func (b Backlog) Validate(added []Task) error {
	after := map[string][]string{}
	for id, r := range b {
		after[id] = r.Task.After
	}
	for i := range added {
		after[added[i].ID] = added[i].After
	}
	for i := range added {
		t := &added[i]
		for _, text := range []string{t.Repository.Root, t.Origin.Name, t.Target, t.Setup} {
			if !utf8.ValidString(text) {
				return hint.Errorf("rename it, or write it in UTF-8", "the queue cannot hold %s, which is not UTF-8 text", wording.OSPath(text))
			}
		}
		for _, id := range t.After {
			if id == "" {
				return hint.Errorf("codeloops queue list shows the IDs", "task %s is to come after a task whose ID is empty", t.ID)
			}
			if _, ok := after[id]; !ok {
				return hint.Errorf("codeloops queue list shows the tasks", "task %s is to come after %s, which is no task", t.ID, id)
			}
		}
		if cycle := cycleFrom(after, t.ID); cycle != nil {
			return hint.Errorf("remove one of them from an `after:`", "these tasks wait for each other: %s", strings.Join(cycle, " → "))
		}
	}
	return nil
}

// cycleFrom returns a path from a task back to itself, including both ends; nil where there is none.
func cycleFrom(after map[string][]string, start string) []string {
	seen := map[string]bool{}
	var walk func(id string) []string
	walk = func(id string) []string {
		for _, next := range after[id] {
			if next == start {
				return []string{id, next}
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if rest := walk(next); rest != nil {
				return append([]string{id}, rest...)
			}
		}
		return nil
	}
	return walk(start)
}

// Find finds a task by a prefix of its ID, or by its key at its origin.
func (b Backlog) Find(ref string) (r Record, err error) {
	if ref == "" { // as from an unset shell variable
		return r, hint.Errorf("codeloops queue list shows the tasks", "the ID of the task is empty")
	}
	var ids []string
	for id, r := range b {
		if strings.HasPrefix(id, ref) || strings.EqualFold(r.Task.Origin.Key, ref) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	switch {
	case len(ids) == 1:
		return *b[ids[0]], nil
	case len(ids) > 1:
		return r, hint.Errorf("use more of the ID: "+wording.List(ids, 5), "%s is the beginning of %s", ref, wording.Count(len(ids), "task"))
	}
	all := slices.Sorted(maps.Keys(b))
	if id, near := wording.Nearest(ref, all); near {
		return r, hint.Errorf("did you mean "+id+"?", "there is no task %s", ref)
	}
	return r, hint.Errorf("codeloops queue list shows the tasks of this repository, and codeloops queue list --all those of every one", "there is no task %s", ref)
}

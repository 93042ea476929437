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

// Next returns the first task that nothing keeps from beginning and that the worker is able to work on; nil where there is none.
func (b Backlog) Next(now time.Time, holds *Holds, able func(id string) bool) *Record {
	for _, r := range b.Sorted() {
		if r.State == Waiting && able(r.Task.ID) && b.Waits(r, now, holds) == "" {
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

// blocked returns the task that r waits for: the first one that it comes after and that is not merged yet; or, if that waits,
// directly or not, for one that has ended without being merged, that one: somebody must look at it. nil is none. A removed
// task blocks nobody.
func (b Backlog) blocked(r *Record) (by *Record) {
	for range b { // a record may hold a cycle, although none can be added
		i := slices.IndexFunc(r.Task.After, func(id string) bool { return b[id] != nil && !b[id].Done() })
		if i < 0 {
			break
		}
		if r = b[r.Task.After[i]]; r.State.Over() {
			return r
		}
		by = cmp.Or(by, r)
	}
	return by
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

// Pending reports whether the task will go on by itself.
func (b Backlog) Pending(r *Record) bool {
	by := b.blocked(r)
	return r.State == Running || r.AwaitsMerge() || r.State == Waiting && (by == nil || !by.State.Over())
}

// Waits says, for people, why a waiting task does not begin; "" where only a worker is missing.
func (b Backlog) Waits(r *Record, now time.Time, holds *Holds) string {
	by := b.blocked(r)
	switch {
	case r.State != Waiting:
		return ""
	case by != nil && by.State.Over():
		return fmt.Sprintf("after %s, which is %s", by.Task.ID, by.State)
	case by != nil:
		return "after " + by.Task.ID
	case now.Before(r.NotBefore):
		return cmp.Or(holds.Held(r), "until "+r.NotBefore.Format(time.TimeOnly))
	}
	return holds.Held(r)
}

// Validate rejects new tasks that wait for each other, or have texts that would be others once they are stored. What they come
// after was looked up among the tasks.
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
		if found := cycle(after, []string{t.ID}, map[string]bool{}); found != nil {
			return hint.Errorf("remove one of them from an `after:`", "these tasks wait for each other: %s", strings.Join(found, " → "))
		}
	}
	return nil
}

// cycle returns the path from its first task back to that; nil where there is none.
func cycle(after map[string][]string, path []string, seen map[string]bool) []string {
	for _, next := range after[path[len(path)-1]] {
		if next == path[0] {
			return append(path, next)
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		if found := cycle(after, append(path, next), seen); found != nil {
			return found
		}
	}
	return nil
}

// Find finds a task by a prefix of its ID, or by its key at its origin.
func (b Backlog) Find(ref string) (r Record, err error) {
	all := slices.Sorted(maps.Keys(b))
	ids := slices.DeleteFunc(slices.Clone(all), func(id string) bool {
		return !strings.HasPrefix(id, ref) && !strings.EqualFold(b[id].Task.Origin.Key, ref)
	})
	switch {
	case ref == "": // as from an unset shell variable
		return r, hint.Errorf("codeloops queue list shows the tasks", "the ID of the task is empty")
	case len(ids) == 1:
		return *b[ids[0]], nil
	case len(ids) > 1:
		return r, hint.Errorf("use more of the ID: "+wording.List(ids, 5), "%s is the beginning of %s", ref, wording.Count(len(ids), "task"))
	}
	if id, near := wording.Nearest(ref, all); near {
		return r, hint.Errorf("did you mean "+id+"?", "there is no task %s", ref)
	}
	return r, hint.Errorf("codeloops queue list shows the tasks of this repository, and codeloops queue list --all those of every one", "there is no task %s", ref)
}

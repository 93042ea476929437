package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// tell warns about what was written in a view and discarded. New files are mentioned once in a run.
func (r *record) tell(step Step, who string, w Written) error {
	var parts []string
	if files := append(slices.Clip(w.Changed), r.untold(w.Added)...); len(files) > 0 {
		parts = append(parts, listed(files))
	}
	if inside := slices.Concat(w.Repository, w.Settings); len(inside) > 0 {
		parts = append(parts, "the repository's "+listed(inside))
	}
	if len(parts) == 0 {
		return nil
	}
	return r.warn(step, fmt.Sprintf("what %s changed in its view of the work tree is thrown away: %s", who, strings.Join(parts, ", and ")))
}

// untold returns those of some paths that it has not returned before.
func (r *record) untold(paths []string) (fresh []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range paths {
		if !r.told[path] {
			fresh = append(fresh, path)
			if r.told == nil {
				r.told = make(map[string]bool)
			}
			r.told[path] = true
		}
	}
	return fresh
}

// A drift is what has changed in the work tree since the capture, while the checks and the critic
// looked at it.
type drift struct {
	files    []string // paths
	settings []string // changes of git's settings, as sentences
}

// driftBetween compares a later look at the work tree with the capture of an iteration.
func driftBetween(then, now Change) (d drift) {
	if now.State != then.State {
		if d.files = differing(then, now); len(d.files) == 0 {
			d.files = []string{"."} // a change that no patch shows
		}
	}
	for _, text := range now.Git {
		if !slices.Contains(then.Warnings, text) {
			d.settings = append(d.settings, text)
		}
	}
	return d
}

// settle looks at the work tree again when the critic and the checks are done. A DONE on a tree
// that has changed since does not count: the next iteration judges again.
func (it *Iteration) settle(ctx context.Context) error {
	now, err := it.run.at.Tree.Capture(ctx)
	if err != nil {
		return fmt.Errorf("look at the work tree again: %w", err)
	}
	moved := now.Position.Since(it.run.position)
	it.run.position = now.Position
	d := driftBetween(it.c.Change, now)
	if news := d.news(moved, it.run.meanwhile); news != "" {
		if err := it.run.warn(it.c.Step, it.run.meantime()+news); err != nil {
			return err
		}
	}
	it.run.meanwhile = d.files
	if done, _ := it.run.at.Gate.Ends(it.c, it.round.Review); done && len(d.files)+len(d.settings) > 0 {
		it.round.Review.stale(d.files, d.settings)
	}
	return nil
}

// stale rejects a DONE on something that has changed since, given as names and as sentences.
func (r *Review) stale(names, sentences []string) {
	r.Stale, r.Unmentioned = slices.Concat(names, sentences), nil
	if len(names) > 0 {
		sentences = append(slices.Clip(sentences), listed(names))
	}
	r.Problem = "it decides DONE, and this has changed since the work was captured: " + strings.Join(sentences, "; ")
}

// news describes the drift since the last look, which reported some files already, and changes of
// HEAD, the index or the tags; "" is nothing new.
func (d drift) news(moved, told []string) string {
	parts := slices.Clone(moved)
	for _, path := range d.files {
		if _, known := slices.BinarySearch(told, path); !known { // both are sorted
			parts = append(parts, path)
		}
	}
	said := slices.Clone(d.settings)
	if len(parts) > 0 {
		said = append(said, listed(parts))
	}
	return strings.Join(said, "; ")
}

// meantime begins a sentence about changes that the actor did not make.
func (c *course) meantime() string {
	if c.loop.InPlace {
		return "changed since the actor's turn, by the critic, by a check or by you: "
	}
	return "changed while no agent was at work: "
}

// among returns those of some paths that the change has.
func (c Change) among(paths []string) []string {
	parts := c.byPath()
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, is := parts[path]
		return !is
	})
}

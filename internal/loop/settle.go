package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// tell tells what was written in a view and thrown away.
func (r *record) tell(step Step, who string, w Written) error {
	var parts []string
	if files := w.Files(); len(files) > 0 {
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

// A drift is what has become of the work tree since it was captured, while the checks
// and the critic looked at it.
type drift struct {
	files    []string // paths
	settings []string // what git goes by, as sentences
}

func (d drift) none() bool { return len(d.files)+len(d.settings) == 0 }

// drifted compares a later look at the work tree with the capture of an iteration.
func drifted(then, now Change) (d drift) {
	if now.State != then.State {
		if d.files = differing(then, now); len(d.files) == 0 {
			d.files = []string{"."} // nothing that a patch shows
		}
	}
	for _, text := range now.Git {
		if !slices.Contains(then.Warnings, text) {
			d.settings = append(d.settings, text)
		}
	}
	return d
}

// settle looks at the work tree once more when all have said what they have to say of
// it. A DONE on a tree that is another one by now is no verdict: the next iteration
// judges again.
func (it *Iteration) settle(ctx context.Context) error {
	now, err := it.run.at.Tree.Capture(ctx)
	if err != nil {
		return fmt.Errorf("look at the work tree again: %w", err)
	}
	moved := now.Position.Since(it.run.position)
	it.run.position = now.Position
	d := drifted(it.c.Change, now)
	if news := d.news(moved, it.run.meanwhile); news != "" {
		if err := it.run.warn(it.c.Step, it.run.meantime()+news); err != nil {
			return err
		}
	}
	it.run.meanwhile = d.files
	if done, _ := it.run.at.Gate.Ends(it.c, it.round.Review); done && !d.none() {
		it.round.Review.stale(d.files, d.settings)
	}
	return nil
}

// stale takes back a DONE on what is no longer so: names, and sentences.
func (r *Review) stale(names, sentences []string) {
	r.Stale, r.Unmentioned = slices.Concat(names, sentences), nil
	if len(names) > 0 {
		sentences = append(slices.Clip(sentences), listed(names))
	}
	r.Problem = "it decides DONE, and this has changed since the work was captured: " + strings.Join(sentences, "; ")
}

// news says what has drifted since the last look, which told of some files, and what HEAD, the
// index or the tags are now; "" is nothing.
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

// meantime begins a sentence on what somebody else than the actor has changed.
func (c *course) meantime() string {
	if c.loop.InPlace {
		return "changed since the actor's turn, by the critic, by a check or by you: "
	}
	return "changed while no agent was at work: "
}

// since is the same sentence for the critic, where what it names is a part of the change.
func (s *section) since(c Change) []string {
	parts := c.byPath()
	paths := slices.DeleteFunc(slices.Clone(s.meanwhile), func(path string) bool {
		_, is := parts[path]
		return !is
	})
	if len(paths) == 0 {
		return nil
	}
	return []string{s.meantime() + listed(paths)}
}

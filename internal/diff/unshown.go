package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/shown"
	"codeloops/internal/loop"
)

// unshown returns what no patch shows as it is, in the order of the paths, given the
// state and what has changed in it.
func (t *Tree) unshown(ctx context.Context, state scan.State, changed []loop.FileChange) ([]loop.Unshown, error) {
	if t.began.ignored == nil { // the session is of a version that did not take it down
		t.began.ignored = t.ignoredOf(state)
	}
	all, err := t.hidden(ctx, state, changed)
	if err != nil {
		return nil, err
	}
	converted, err := t.convertedFiles(ctx, state.Root)
	if err != nil {
		return nil, err
	}
	binary, err := t.binaryTexts(ctx, state.Root, changed)
	if err != nil {
		return nil, err
	}
	all = append(append(all, converted...), binary...)
	for _, u := range t.ignoredSettings(state) {
		if !slices.ContainsFunc(all, func(other loop.Unshown) bool { return other.Path == u.Path }) {
			all = append(all, u)
		}
	}
	slices.SortStableFunc(all, func(a, b loop.Unshown) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// ignoredSettings returns what tells agents how to work, is ignored, and is not what
// it was when the session began.
func (t *Tree) ignoredSettings(state scan.State) []loop.Unshown {
	var all []loop.Unshown
	tell := func(name string, status loop.FileStatus) {
		if !strings.HasSuffix(name, "/") && state.Root.Find(name) == nil {
			all = append(all, loop.Unshown{Path: name, Why: loop.IgnoredSettings, Status: status})
		}
	}
	now := t.ignoredOf(state)
	for name, digest := range now {
		if was, known := t.began.ignored[name]; !known {
			tell(name, loop.FileAdded)
		} else if was != digest {
			tell(name, loop.FileModified)
		}
	}
	for name := range t.began.ignored {
		if _, there := now[name]; !there {
			tell(name, loop.FileDeleted)
		}
	}
	return all
}

// unshownWarnings puts what is not shown in sentences, without the numbers that
// change with every build.
func unshownWarnings(all []loop.Unshown) (sentences []string) {
	const most = 20
	named := map[loop.UnshownWhy][]string{}
	for _, u := range all {
		name := shown.Name(u.Path)
		if u.Why == loop.Converted {
			name += " (" + shown.Name(u.Via) + ")"
		}
		named[u.Why] = append(named[u.Why], name)
	}
	for _, s := range []struct {
		why  loop.UnshownWhy
		text string
	}{
		{loop.Hidden, "git ignores, by rules that have come since the session began, what no diff shows for that: %s"},
		{loop.Converted, "git converts these files, so that a diff shows something else than stands in them: %s"},
		{loop.IgnoredSettings, "git ignores these settings of agents, which have changed since the session began: %s"},
		{loop.TurnedBinary, "to git these files are binary, which were text when the session began: %s"},
	} {
		names := named[s.why]
		if more := len(names) - most; more > 0 {
			names = append(names[:most:most], fmt.Sprintf("%d more", more))
		}
		if len(names) > 0 {
			sentences = append(sentences, fmt.Sprintf(s.text, strings.Join(names, ", ")))
		}
	}
	return sentences
}

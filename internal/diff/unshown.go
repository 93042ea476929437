package diff

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/legible"
	"codeloops/internal/diff/patch"
	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A capture is the state of the last scan with its changes since the session began.
type capture struct {
	*watcher
	setup   setup
	changed []loop.FileChange
}

// change returns the difference from the baseline.
func (c *capture) change(ctx context.Context) (to loop.Change, err error) {
	c.setup = c.setupOf(c.opened)
	fakes := c.nests.setUp(c.setup)
	to.State, to.Position, to.Git = c.state.Root.ID().String(), c.position(), c.aboutGit()
	differences := scan.Compare(c.base, c.state.Root)
	c.withheld = c.exposed(ctx, differences)
	if to.Files, err = render(ctx, c.store, differences, c.withheld); err != nil {
		return to, err
	}
	c.changed = to.Files
	if to.Unshown, err = c.unshown(ctx); err != nil {
		return to, err
	}
	to.Warnings = slices.Concat(few(c.state.Warnings), to.Git, few(c.setup.fakes(c.setupThen, fakes)), unshownWarnings(to.Unshown))
	return to, nil
}

// aboutGit says what has changed since the session began in how git works.
func (c *capture) aboutGit() (sentences []string) {
	overrides := c.overridesOf(c.opened)
	if c.overridesThen == nil {
		c.overridesThen = overrides.setup
	}
	for _, changed := range []string{c.setup.changedSince(c.setupThen, c.opened.Config), overrides.changedSince(c.overridesThen)} {
		if changed != "" {
			sentences = append(sentences, changed)
		}
	}
	return sentences
}

// unshown returns what no patch shows as it is, sorted by path.
func (c *capture) unshown(ctx context.Context) ([]loop.Unshown, error) {
	if c.ignoredThen == nil { // an earlier version, which did not record it, began the session
		c.ignoredThen = c.ignoredOf()
	}
	var found []unseen
	for _, find := range []func(context.Context) ([]unseen, error){c.hidden, c.converted, c.binaryTexts} {
		more, err := find(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	all, err := legibly(ctx, c.store.Room(), found)
	if err != nil {
		return nil, err
	}
	for name := range c.withheld {
		all = append(all, loop.Unshown{Path: name, Why: loop.WasIgnored, Status: loop.FileAdded})
	}
	for _, u := range slices.Concat(c.unread(), c.ignoredSettings(), c.cut()) {
		if !slices.ContainsFunc(all, func(other loop.Unshown) bool { return other.Path == u.Path }) {
			all = append(all, u)
		}
	}
	slices.SortStableFunc(all, func(a, b loop.Unshown) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// unread returns what could be read, or did not exist, when the session began, and cannot be read
// now.
func (c *capture) unread() (all []loop.Unshown) {
	for _, name := range c.state.Unread {
		if c.ignoredThen[unreadMark+name] != "" {
			continue
		}
		u := loop.Unshown{Path: name, Why: loop.Unreadable, Status: loop.FileAdded}
		if dir, is := strings.CutSuffix(name, "/"); c.base.Find(name) != nil || is && c.base.Dir(dir) != nil {
			u.Status = loop.FileModified
		}
		all = append(all, u)
	}
	return all
}

// ignoredSettings returns the ignored settings of agents that have changed since the session
// began.
func (c *capture) ignoredSettings() []loop.Unshown {
	var all []loop.Unshown
	now := c.ignoredOf()
	for _, name := range now.differsFrom(c.ignoredThen) {
		if strings.HasSuffix(name, "/") || strings.HasPrefix(name, unreadMark) || c.state.Root.Find(name) != nil {
			continue
		}
		u := loop.Unshown{Path: name, Why: loop.IgnoredSettings, Status: loop.FileModified}
		if now[name] == "" {
			u.Status = loop.FileDeleted
		} else if c.ignoredThen[name] == "" {
			u.Status = loop.FileAdded
		}
		all = append(all, u)
	}
	return all
}

// unshownWarnings describes what is not shown, without counts, which change with every build.
func unshownWarnings(all []loop.Unshown) (sentences []string) {
	const most = 20
	named := map[loop.UnshownWhy][]string{}
	for _, u := range all {
		name := wording.Name(u.Path)
		if u.Why == loop.Converted {
			name += " (" + wording.Name(u.Via) + ")"
		}
		named[u.Why] = append(named[u.Why], name)
	}
	for _, s := range []struct {
		why  loop.UnshownWhy
		text string
	}{
		{loop.Hidden, "git ignores these paths by rules that are new since the session began, so that no diff shows them: %s"},
		{loop.Converted, "git converts these files, so that no diff shows what they hold: %s"},
		{loop.IgnoredSettings, "git ignores these settings of agents, which have changed since the session began: %s"},
		{loop.WasIgnored, "git ignored these files when the session began and does not any more; what they hold is left out of the log and not shown to the critic: %s"},
		{loop.CutOut, "a sparse checkout leaves these files out, which were there when the session began; git has them still: %s"},
		{loop.TurnedBinary, "these files were text when the session began and are binary to git now: %s"},
	} {
		if names := named[s.why]; len(names) > 0 {
			sentences = append(sentences, fmt.Sprintf(s.text, wording.List(names, most)))
		}
	}
	return sentences
}

// exposed returns the files with the name of a secret that git ignored when the session began and does not ignore
// now, as a .env behind a changed .gitignore.
func (c *capture) exposed(ctx context.Context, differences []scan.Difference) map[string]bool {
	if maps.Equal(c.setup, c.setupThen) && !slices.ContainsFunc(differences, func(d scan.Difference) bool { return path.Base(d.Path) == ".gitignore" }) {
		return nil
	}
	then, all := map[*ignore.Rules]*ignore.Rules{}, map[string]bool{}
	for _, d := range differences {
		if d.Before != nil || !secret(d.Path) {
			continue
		}
		in, rest := c.rulesOf(d.Path)
		if then[in] == nil {
			then[in] = c.rulesThen(ctx, strings.TrimSuffix(d.Path, rest), in)
		}
		if then[in].Ignored(rest) {
			all[d.Path] = true
		}
	}
	return all
}

// maxLegible is the size up to which a binary file is searched for text.
const maxLegible = 4 << 20

// binaryTexts returns the binary files of a change that are text except for some bytes, and
// those that were text when the session began.
func (c *capture) binaryTexts(ctx context.Context) ([]unseen, error) {
	var all []unseen
	for _, f := range c.changed {
		if !f.Binary || c.withheld[f.Path] {
			continue
		}
		d := scan.Difference{Path: f.Path}
		if f.Status != loop.FileAdded {
			d.Before = c.base.Find(f.Path)
		}
		if f.Status != loop.FileDeleted {
			d.After = c.state.Root.Find(f.Path)
		}
		pair, err := pairOf(ctx, c.store, d)
		if err != nil {
			return nil, err
		}
		u := unseen{Unshown: loop.Unshown{Path: f.Path, Why: loop.BinaryText, Status: f.Status}, pair: pair}
		if pair.After.Mode != patch.Absent && len(pair.Before.Content) > 0 && !patch.Binary(pair.Before.Content) {
			u.Why = loop.TurnedBinary
		}
		was, is := readable(&u.pair.Before), readable(&u.pair.After)
		if was || is || u.Why == loop.TurnedBinary { // otherwise it really is binary
			all = append(all, u)
		}
	}
	return all, nil
}

// An unseen path is what a patch does not show as it is. The zero pair is no text to show instead.
type unseen struct {
	loop.Unshown
	pair patch.Pair // with readable sides
}

// legibly returns what is not shown, with patches that are cut to a readable size.
func legibly(ctx context.Context, room string, found []unseen) ([]loop.Unshown, error) {
	var pairs []patch.Pair
	for _, u := range found {
		if u.pair.Path != "" {
			pairs = append(pairs, u.pair)
		}
	}
	files, err := patch.Files(ctx, room, pairs...)
	if err != nil {
		return nil, err
	}
	texts := map[string][]string{}
	for _, f := range files {
		texts[f.Path] = append(texts[f.Path], f.Patch)
	}
	var all []loop.Unshown
	for _, u := range found {
		if text := texts[u.pair.Path]; len(text) == 1 { // not of another kind than it was
			u.Text = cutText(text[0])
		}
		all = append(all, u.Unshown)
	}
	return all, nil
}

// readable makes the content of a side legible, or removes it if it is not text. It reports
// whether it is.
func readable(s *patch.Side) bool {
	if s.Mode == patch.Absent {
		return false
	}
	text, ok := []byte(nil), false
	if !s.TooLarge && len(s.Content) <= maxLegible {
		text, ok = legible.Text(s.Content)
	}
	if s.TooLarge = false; !ok {
		text = nil
	}
	s.Content, s.Size = text, 0
	return ok
}

package diff

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"codeloops/internal/diff/restore"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A capture is the state of the last scan with its changes since the session began.
type capture struct {
	*watcher
	setup   digests
	changed []loop.FileChange
}

// change returns the difference from the baseline.
func (c *capture) change(ctx context.Context) (to loop.Change, err error) {
	c.setup = c.setupOf()
	to.State, to.Position, to.Git = c.sight.state.id, c.position(), c.aboutGit()
	differences, err := c.objects.compare(ctx, c.basis.state, c.sight.state)
	if err != nil {
		return to, err
	}
	if c.withheld, err = c.exposed(ctx, differences); err != nil {
		return to, err
	}
	if to.Files, err = c.render(ctx, c.basis.state, c.sight.state, c.withheld); err != nil {
		return to, err
	}
	c.changed = to.Files
	if to.Unshown, err = c.unshown(ctx); err != nil {
		return to, err
	}
	to.Warnings = slices.Concat(few(c.sight.warnings), to.Git, few(c.aboutFakes()), unshownWarnings(to.Unshown))
	return to, nil
}

// aboutGit says what has changed since the session began in how git works.
func (c *capture) aboutGit() (sentences []string) {
	for _, changed := range []string{setupChanged(c.setup, c.began.Setup, c.opened.Config), c.overridesOf().changedSince(c.began.Overrides)} {
		if changed != "" {
			sentences = append(sentences, changed)
		}
	}
	return sentences
}

// unshown returns what no patch shows as it is, sorted by path.
func (c *capture) unshown(ctx context.Context) (all []loop.Unshown, err error) {
	for _, find := range []func(context.Context) ([]loop.Unshown, error){c.hidden, c.binaryTexts} {
		more, err := find(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
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

// cut returns the files that a sparse checkout has taken out of the work tree since the session began.
func (c *capture) cut() []loop.Unshown {
	all := named(slices.DeleteFunc(slices.Clone(c.sight.cut), func(name string) bool { return !c.sees(name) }))
	for i := range all {
		all[i].Why, all[i].Status = loop.CutOut, loop.FileDeleted
	}
	return all
}

// unread returns what could be read, or did not exist, when the session began, and cannot be read
// now.
func (c *capture) unread() (all []loop.Unshown) {
	for _, name := range c.sight.unread {
		if slices.Contains(c.began.Unread, restore.Name(name)) {
			continue
		}
		u := loop.Unshown{Path: name, Why: loop.Unreadable, Status: loop.FileAdded}
		if e, err := c.objects.at(c.basis.state.tree, strings.TrimSuffix(name, "/")); err == nil && e != nil {
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
	for _, name := range differing(now, c.began.Ignored) {
		if strings.HasSuffix(name, "/") || c.sees(name) {
			continue
		}
		u := loop.Unshown{Path: name, Why: loop.IgnoredSettings, Status: loop.FileModified}
		if now[name] == "" {
			u.Status = loop.FileDeleted
		} else if c.began.Ignored[name] == "" {
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
		named[u.Why] = append(named[u.Why], name)
	}
	for _, s := range []struct {
		why  loop.UnshownWhy
		text string
	}{
		{loop.Hidden, "git ignores these paths by rules that are new since the session began, so that no diff shows them: %s"},
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
func (c *capture) exposed(ctx context.Context, differences []difference) (map[string]bool, error) {
	if len(differing(c.setup, c.began.Setup)) == 0 && !slices.ContainsFunc(differences, func(d difference) bool { return path.Base(d.path) == ".gitignore" }) {
		return nil, nil
	}
	var names []string
	for _, d := range differences {
		if d.before == nil && secret(d.path) {
			names = append(names, d.path)
		}
	}
	if names == nil {
		return nil, nil
	}
	return c.ignores(ctx, c.rulesThen(), names)
}

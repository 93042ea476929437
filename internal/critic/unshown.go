package critic

import (
	"fmt"
	"strings"

	"codeloops/internal/critic/excerpt"
	"codeloops/internal/loop"
)

// unshown shows what is on the disk and in no diff: first what it is, then what
// stands in it, as far as there is text.
func (p *prompt) unshown(all []loop.Unshown, budget Budget) {
	if len(all) == 0 {
		return
	}
	p.sayf("Of these paths no diff shows what is on the disk. They are part of the work: judge them as they are there.")
	list, files := listed(all), textsOf(all)
	p.show("not in the diff", excerpt.Clip(list, budget.Files, budget.Files))
	x := excerpt.OfChange(loop.Change{Files: files}, budget.Unshown, budget.Files)
	if x.Diff != "" {
		p.sayf("This is how they have changed since the session began, as far as it is text, with what stands in the files now:")
		p.show("on the disk", x.Diff)
	}
	if p.cutUnshown = x.Cut || len(list) > budget.Files; p.cutUnshown {
		p.sayf("There is more of this than can be shown here. All of it stands in the file\n%s\nRead it before you decide: what you have not seen cannot be DONE.", p.wholeUnshown())
	}
}

// textsOf makes files of what is not shown, with its text as their patches.
func textsOf(all []loop.Unshown) (files []loop.FileChange) {
	for _, u := range all {
		if u.Text != "" {
			files = append(files, loop.FileChange{Path: u.Path, Status: u.Status, Patch: u.Text})
		}
	}
	return files
}

// listed names what is not shown, one a line.
func listed(all []loop.Unshown) string {
	var b strings.Builder
	for _, u := range all {
		path := excerpt.Path(u.Path)
		if u.Files > 0 {
			path += fmt.Sprintf(" (%s)", count(u.Files, "file"))
		}
		fmt.Fprintf(&b, "%-8s  %s: %s\n", u.Status, path, reason(u))
	}
	return b.String()
}

func reason(u loop.Unshown) string {
	switch u.Why {
	case loop.Hidden:
		return "hidden, as git ignores it by rules that have come since the session began"
	case loop.HiddenCache:
		return "hidden, in a directory that calls itself a cache"
	case loop.IgnoredSettings:
		return "ignored by git, as before; agents take settings or instructions from it, you perhaps among them"
	case loop.Converted:
		return "converted by git (" + oneLine(u.Via) + "), so that the diff shows something else than the file has"
	case loop.BinaryText:
		return "text, though binary to git"
	case loop.TurnedBinary:
		return "text that has turned binary since the session began"
	}
	return oneLine(string(u.Why))
}

// wholeOf is what the file holds that the prompt names where all this is cut.
func wholeOf(all []loop.Unshown) string {
	return listed(all) + "\n" + loop.Change{Files: textsOf(all)}.Patch()
}

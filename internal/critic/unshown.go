package critic

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// unshown shows what is on disk but not in the diff: first the list, then the text of
// what has any.
func (d *draft) unshown(all []loop.Unshown) {
	if len(all) == 0 {
		return
	}
	d.sayf("The diff does not show what these paths hold on the disk. They are part of the work: judge them as they are there.")
	list, files := listed(all), textsOf(all)
	d.show("not in the diff", prompt.Clip(list, d.budget.Files, d.budget.Files))
	x := prompt.ExcerptOf(loop.Change{Files: files}, d.budget.Unshown, d.budget.Files)
	if x.Diff != "" {
		d.sayf("This is how their text has changed since the session began, as it is in the files now:")
		d.show("on the disk", x.Diff)
	}
	if x.Cut || len(list) > d.budget.Files {
		d.sayf("There is more of this than fits here. All of it is in the file\n%s\nRead it before you decide: you cannot decide DONE on what you have not seen.", d.keep(".unshown", list+"\n"+loop.Change{Files: files}.Patch()))
	}
}

// textsOf returns what is not shown as files, with the text as the patch.
func textsOf(all []loop.Unshown) (files []loop.FileChange) {
	for _, u := range all {
		if u.Text != "" {
			files = append(files, loop.FileChange{Path: u.Path, Status: u.Status, Patch: u.Text})
		}
	}
	return files
}

// listed names what is not shown, one path per line.
func listed(all []loop.Unshown) string {
	var b strings.Builder
	for _, u := range all {
		path := wording.Path(u.Path)
		if u.Files > 0 {
			path += fmt.Sprintf(" (%s)", wording.Count(u.Files, "file"))
		}
		fmt.Fprintf(&b, "%-8s  %s: %s\n", u.Status, path, reason(u))
	}
	return b.String()
}

func reason(u loop.Unshown) string {
	switch u.Why {
	case loop.Hidden:
		return "hidden: git ignores it by rules that are new since the session began"
	case loop.HiddenCache:
		return "hidden: in a directory that is marked as a cache"
	case loop.IgnoredSettings:
		return "ignored by git, as before; agents read settings or instructions from it, perhaps you do, too"
	case loop.WasIgnored:
		return "git ignored it when the session began; what it holds is left out here because it may be a secret of the user's"
	case loop.Converted:
		return "converted by git (" + wording.Line(u.Via) + "), so that the diff does not show what the file holds"
	case loop.BinaryText:
		return "text that git takes for binary"
	case loop.TurnedBinary:
		return "text that has turned binary since the session began"
	case loop.CutOut:
		return "a sparse checkout leaves it out of the work tree, where it was when the session began; git has it still, but no check and nobody else sees it"
	case loop.Unreadable:
		return "it cannot be read, but could be, or did not exist, when the session began"
	}
	return wording.Line(string(u.Why))
}

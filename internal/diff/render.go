package diff

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// render returns the patches of what differs between two states, in git's order. They do not have the content of
// withheld files. Git writes the text of what it can see; nothing in the work tree tells it how.
func (w *watcher) render(ctx context.Context, from, to *state, withheld map[string]bool, flags ...string) ([]loop.FileChange, error) {
	differ, err := w.objects.compare(ctx, from, to)
	if err != nil || len(differ) == 0 {
		return nil, err
	}
	if err := w.bring(ctx, differ); err != nil {
		return nil, err
	}
	own := union(nameSet(from.Large), nameSet(to.Large))
	links := union(nameSet(from.Links), nameSet(to.Links))
	for _, d := range differ {
		large, err := w.tooLarge(d)
		if err != nil {
			return nil, err
		}
		if large || withheld[d.path] {
			own[d.path] = true
		}
	}
	sections, err := w.text(ctx, from.tree, to.tree, own, links, flags)
	if err != nil {
		return nil, err
	}
	files, left, err := w.patched(differ, sections, own, links, withheld)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("compare files: git printed a diff more than there are changes: %.100q", left[0])
	}
	return files, err
}

func nameSet[V any](of byName[V]) map[string]bool {
	all := map[string]bool{}
	for name := range of {
		all[name] = true
	}
	return all
}

// patched returns the changes with their patches, and the texts of git that belong to none.
func (w *watcher) patched(differ []difference, sections []string, own, links, withheld map[string]bool) (files []loop.FileChange, left []string, err error) {
	for _, d := range differ {
		for _, d := range d.parts() {
			f, err := w.change(d)
			switch {
			case err != nil:
				return nil, nil, fmt.Errorf("read %s: %w", wording.Name(d.path), err)
			case own[d.path], links[d.path] && (f.OldMode == Gitlink || f.NewMode == Gitlink):
				f.patch(d, withheld[d.path])
			case len(sections) == 0:
				return nil, nil, fmt.Errorf("compare files: git printed no diff of %s", wording.Name(d.path))
			default:
				f.take(sections[0])
				sections = sections[1:]
			}
			files = append(files, f.FileChange)
		}
	}
	return files, sections, nil
}

// text returns what git prints of each file that two trees differ in, but for some files and repositories inside.
func (w *watcher) text(ctx context.Context, from, to plumbing.Hash, files, links map[string]bool, flags []string) ([]string, error) {
	for _, tree := range []*plumbing.Hash{&from, &to} {
		edits := map[string]*object.TreeEntry{}
		for name := range union(files, links) {
			if e, err := w.objects.at(*tree, name); err != nil {
				return nil, err
			} else if e != nil && (files[name] && e.Mode != filemode.Dir || links[name] && e.Mode == filemode.Submodule) {
				edits[name] = nil
			}
		}
		var err error
		if *tree, err = w.objects.edited(*tree, edits); err != nil {
			return nil, err
		}
	}
	if from == to {
		return nil, nil
	}
	args := slices.Concat([]string{"diff-tree", "-r", "-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-renames"}, flags, []string{from.String(), to.String()})
	for _, c := range w.shadow.compared {
		if slices.Equal(args, c.args) {
			return c.sections, nil
		}
	}
	out, err := (&view{shadow: w.shadow}).run(ctx, nil, nil, args...)
	if err != nil {
		return nil, err
	}
	w.shadow.compared = [2]comparison{{args, sectionsOf(out)}, w.shadow.compared[0]}
	return w.shadow.compared[0].sections, nil
}

// sectionsOf splits the text of git by its files. No line of a hunk begins with a letter.
func sectionsOf(text []byte) (all []string) {
	const head = "diff --git "
	for len(text) > 0 {
		end := bytes.Index(text[1:], []byte("\n"+head))
		if end < 0 {
			return append(all, string(text))
		}
		all, text = append(all, string(text[:end+2])), text[end+2:]
	}
	return all
}

// tooLarge reports whether a file is not compared.
func (w *watcher) tooLarge(d difference) (bool, error) {
	for _, e := range []*entry{d.before, d.after} {
		size, err := w.sizeOf(e)
		if err != nil || size > Large {
			return err == nil, err
		}
	}
	return false, nil
}

// sizeOf returns the length of a file in bytes.
func (w *watcher) sizeOf(e *entry) (int64, error) {
	switch {
	case e == nil || e.Mode == Gitlink:
		return 0, nil
	case e.Size > 0:
		return e.Size, nil
	}
	return w.objects.size(e.ID)
}

// parts returns the changes that git makes of one: a deletion and an addition where the kind of file changes.
func (d difference) parts() []difference {
	const kind = 0o170000
	if d.before != nil && d.after != nil && d.before.Mode&kind != d.after.Mode&kind {
		return []difference{{path: d.path, before: d.before}, {path: d.path, after: d.after}}
	}
	return []difference{d}
}

type fileChange struct{ loop.FileChange }

// change returns a change without its patch.
func (w *watcher) change(d difference) (f fileChange, err error) {
	f.Path, f.Status = d.path, loop.FileModified
	if d.before == nil {
		f.Status = loop.FileAdded
	} else {
		f.OldMode = d.before.Mode
		f.OldSize, err = w.sizeOf(d.before)
	}
	if d.after == nil {
		f.Status = loop.FileDeleted
	} else if err == nil {
		f.NewMode = d.after.Mode
		f.NewSize, err = w.sizeOf(d.after)
	}
	return f, err
}

// take takes the text that git has written.
func (f *fileChange) take(text string) {
	if head, _, is := strings.Cut(text, "\nGIT binary patch\n"); is {
		f.Binary, f.BinaryPatch = true, text
		f.Patch = head + "\n" + f.differ()
		return
	}
	f.Patch = text
	if _, hunks, is := strings.Cut(text, "\n@@ "); is {
		f.Insertions, f.Deletions = strings.Count(hunks, "\n+"), strings.Count(hunks, "\n-")
	}
}

// names returns what git calls the sides.
func (f *fileChange) names() (was, is string) {
	was, is = patch.Quote("a/"+f.Path), patch.Quote("b/"+f.Path)
	switch f.Status {
	case loop.FileAdded:
		was = "/dev/null"
	case loop.FileDeleted:
		is = "/dev/null"
	case loop.FileModified, loop.FileRenamed:
	}
	return was, is
}

func (f *fileChange) differ() string {
	was, is := f.names()
	return fmt.Sprintf("Binary files %s and %s differ\n", was, is)
}

// patch writes the text of what git does not see: the commit of a repository inside, or a file that is not compared.
// Parsers of patches skip the line with its sizes between two files.
func (f *fileChange) patch(d difference, withheld bool) {
	f.Patch = fmt.Sprintf("diff --git %s %s\n", patch.Quote("a/"+f.Path), patch.Quote("b/"+f.Path))
	was, is := plumbing.ZeroHash, plumbing.ZeroHash
	mode := ""
	switch {
	case d.before == nil:
		is = d.after.ID
		f.Patch += fmt.Sprintf("new file mode %06o\n", d.after.Mode)
	case d.after == nil:
		was = d.before.ID
		f.Patch += fmt.Sprintf("deleted file mode %06o\n", d.before.Mode)
	default:
		was, is = d.before.ID, d.after.ID
		if d.before.Mode != d.after.Mode {
			f.Patch += fmt.Sprintf("old mode %06o\nnew mode %06o\n", d.before.Mode, d.after.Mode)
		} else {
			mode = fmt.Sprintf(" %06o", d.after.Mode)
		}
	}
	if was == is {
		return
	}
	f.Patch += fmt.Sprintf("index %s..%s%s\n", was, is, mode)
	if f.OldMode == Gitlink || f.NewMode == Gitlink {
		f.link(was, is)
		return
	}
	f.Binary = true
	why, sizes := "too large to compare", strconv.FormatInt(f.OldSize, 10)+" bytes before, "+strconv.FormatInt(f.NewSize, 10)+" bytes after"
	if withheld {
		why = "withheld"
	}
	switch f.Status {
	case loop.FileAdded:
		sizes = fmt.Sprintf("%d bytes", f.NewSize)
	case loop.FileDeleted:
		sizes = fmt.Sprintf("%d bytes before", f.OldSize)
	case loop.FileModified, loop.FileRenamed:
	}
	f.Patch += f.differ() + "# " + why + ": " + sizes + "\n"
}

// link writes the text of a repository inside that is at another commit.
func (f *fileChange) link(was, is plumbing.Hash) {
	from, to := f.names()
	tab := "" // without it, GNU patch would take what follows a space for a date
	if strings.Contains(f.Path, " ") {
		tab = "\t"
	}
	f.Patch += fmt.Sprintf("--- %s%s\n+++ %s%s\n", from, tab, to, tab)
	ranges := map[loop.FileStatus]string{loop.FileAdded: "-0,0 +1", loop.FileDeleted: "-1 +0,0", loop.FileModified: "-1 +1"}
	f.Patch += "@@ " + ranges[f.Status] + " @@\n"
	if f.Status != loop.FileAdded {
		f.Deletions = 1
		f.Patch += fmt.Sprintf("-Subproject commit %s\n", was)
	}
	if f.Status != loop.FileDeleted {
		f.Insertions = 1
		f.Patch += fmt.Sprintf("+Subproject commit %s\n", is)
	}
}

// few returns the first warnings, and counts the rest: an agent can make any number of
// files that cannot be read.
func few(warnings []string) []string {
	const most = 20
	more := len(warnings) - most
	if more <= 1 {
		return warnings
	}
	return append(warnings[:most:most], fmt.Sprintf("and %d more like these", more))
}

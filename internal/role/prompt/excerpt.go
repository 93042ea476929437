package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// An Excerpt is what a prompt shows of a [loop.Change].
type Excerpt struct {
	// Files is one line per file: its status, path, size of change, and what
	// of it Diff does not hold.
	Files string
	// Diff is patches in the order of their paths, whole ones and cut ones.
	Diff string
	// Cut is whether anything is missing, from Diff or from Files.
	Cut bool
}

// ExcerptOf fits a change into a budget for its patches and one for the list of
// its files.
//
// Files that somebody wrote come before generated ones. Of each sort, whole
// files come first, smallest first, so that as many as possible are whole; the
// others share what is left and get their first hunks.
func ExcerptOf(c loop.Change, diff, files int) Excerpt {
	views := make([]*view, len(c.Files))
	for i, f := range c.Files {
		views[i] = look(f)
	}
	for _, sort := range []bool{false, true} {
		diff -= fit(views, sort, diff)
	}
	out := Excerpt{}
	out.Files, out.Cut = list(views, files)
	var b strings.Builder
	for _, v := range views {
		b.WriteString(v.shown)
		out.Cut = out.Cut || v.missing != ""
	}
	out.Diff = b.String()
	return out
}

// A view is one file on its way into an excerpt.
type view struct {
	file      loop.FileChange
	generated bool
	patch     string // what all of it would be
	shown     string // what Diff gets
	missing   string // what that lacks, in words; "" for nothing
}

func look(f loop.FileChange) *view {
	v := &view{file: f, generated: generated(f.Path, f.Patch)}
	v.patch = strings.ReplaceAll(strings.ToValidUTF8(f.Patch, "\uFFFD"), "\x00", "\uFFFD")
	if f.Binary {
		v.patch = fmt.Sprintf("binary file %s %s: %d bytes before, %d bytes now\n", wording.Path(f.Path), f.Status, f.OldSize, f.NewSize)
	}
	if v.patch != "" && !strings.HasSuffix(v.patch, "\n") {
		v.patch += "\n"
	}
	return v
}

// fit places the files of one sort and returns what they took of the budget.
func fit(views []*view, generated bool, budget int) (used int) {
	queue := slices.DeleteFunc(slices.Clone(views), func(v *view) bool { return v.generated != generated })
	slices.SortStableFunc(queue, func(a, b *view) int { return cmp.Compare(len(a.patch), len(b.patch)) })
	whole := 0
	for _, v := range queue {
		if used+len(v.patch) > budget {
			break
		}
		v.shown = v.patch
		used += len(v.patch)
		whole++
	}
	rest := queue[whole:]
	for i, v := range rest {
		v.cut((budget - used) / (len(rest) - i))
		used += len(v.shown)
	}
	return used
}

// cut shows the first hunks of a file, as far as the budget goes; of a hunk
// that is too large, its first lines.
func (v *view) cut(budget int) {
	header, hunks := split(v.patch)
	room := budget - len(header) - noteSize
	kept, whole := 0, 0
	for _, h := range hunks {
		if kept+len(h) > room {
			break
		}
		kept += len(h)
		whole++
	}
	body := v.patch[len(header):]
	if whole < len(hunks) {
		kept += wholeLines(hunks[whole], room-kept)
	}
	left := body[kept:]
	if kept == 0 {
		left = v.patch
	}
	v.missing = fmt.Sprintf("%d of %s, %s", len(hunks)-whole, wording.Count(len(hunks), "hunk"), amount(left))
	if kept > 0 {
		v.shown = header + body[:kept] + fmt.Sprintf("[... %s of this file left out here ...]\n", v.missing)
	}
}

// wholeLines returns how many bytes of a hunk fit when lines stay whole; none
// when that is its own header only.
func wholeLines(hunk string, room int) int {
	if room <= 0 {
		return 0
	}
	n := strings.LastIndexByte(hunk[:min(room, len(hunk))], '\n') + 1
	if lines(hunk[:n]) < 2 {
		return 0
	}
	return n
}

// split takes a patch apart at the lines that begin a hunk.
func split(patch string) (header string, hunks []string) {
	const mark = "\n@@ "
	for {
		i := strings.Index(patch, mark)
		part := patch[:i+1]
		if i < 0 {
			part = patch
		}
		if header == "" {
			header = part
		} else {
			hunks = append(hunks, part)
		}
		if i < 0 {
			return header, hunks
		}
		patch = patch[i+1:]
	}
}

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
	// Files has one line per file: its status, path, size of change, and what Diff
	// lacks of it.
	Files string
	// Diff holds the patches, whole or cut, in the order of their paths.
	Diff string
	// Cut is set if anything is missing from Diff or Files.
	Cut bool
}

// ExcerptOf fits a change into one budget for its patches and one for the list of its
// files.
//
// Files that people wrote get room before generated ones, and within each kind small
// files before large ones, so that as many as possible are whole. The others share what
// is left and show their first hunks.
func ExcerptOf(c loop.Change, diff, files int) Excerpt {
	views := make([]*view, len(c.Files))
	for i, f := range c.Files {
		views[i] = look(f)
	}
	for _, generated := range []bool{false, true} {
		diff -= fit(views, generated, diff)
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

// A view is what an excerpt shows of one file.
type view struct {
	file      loop.FileChange
	generated bool
	patch     string // the whole patch
	shown     string // the part for Diff
	missing   string // what that part lacks, in words
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

// fit chooses what to show of the files of one kind, and returns its size.
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

// cut shows the hunks of a file that fit into the budget, and the first lines of the next
// hunk.
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

// wholeLines returns how many bytes of a hunk fit without cutting a line; 0 if only the
// hunk's header fits.
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

// split splits a patch at the lines that begin a hunk.
func split(patch string) (header string, hunks []string) {
	const mark = "\n@@ "
	parts := strings.Split(patch, mark)
	for i := range parts[1:] {
		parts[i] += mark[:1]
		parts[i+1] = mark[1:] + parts[i+1]
	}
	return parts[0], parts[1:]
}

// list writes one line per file, as many as the budget allows, and counts the rest.
func list(views []*view, budget int) (text string, cut bool) {
	var b strings.Builder
	for i, v := range views {
		line := v.line()
		if b.Len()+len(line)+noteSize > budget && i > 0 {
			b.WriteString(others(views[i:]))
			return b.String(), true
		}
		b.WriteString(line)
	}
	return b.String(), false
}

func (v *view) line() string {
	size := fmt.Sprintf("+%d -%d", v.file.Insertions, v.file.Deletions)
	if v.file.Binary {
		size = fmt.Sprintf("binary, %d bytes before, %d bytes now", v.file.OldSize, v.file.NewSize)
	}
	words := append([]string{size}, v.file.Nature()...)
	words = slices.DeleteFunc(words, func(w string) bool { return w == loop.Binary })
	line := fmt.Sprintf("%-8s  %s  (%s)", v.file.Status, wording.Path(v.file.Path), strings.Join(words, ", "))
	switch {
	case v.missing == "":
	case v.shown == "":
		line += "  NOT SHOWN: " + v.missing
	default:
		line += "  CUT, missing: " + v.missing
	}
	return line + "\n"
}

func others(views []*view) string {
	added, deleted, missing := 0, 0, 0
	for _, v := range views {
		added += v.file.Insertions
		deleted += v.file.Deletions
		if v.missing != "" {
			missing++
		}
	}
	return fmt.Sprintf("[... and %s (+%d -%d), %d of them cut or not shown ...]\n",
		wording.Count(len(views), "more file"), added, deleted, missing)
}

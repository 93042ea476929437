package limits

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/wording"
)

// A maxSize limits the size of the change since the session began.
type maxSize struct {
	most int64
	what string
	of   func(loop.Change) int64
}

// Most limits a size of the change since the session began, whose unit is named in the singular; 0 is
// no limit.
func Most[N int | int64](most N, unit string, of func(loop.Change) int64) policy.Inspector {
	return maxSize{int64(most), unit, of}
}

// Files is the number of changed files.
func Files(c loop.Change) int64 { return int64(len(paths(c))) }

// Lines is the number of lines added and removed, together.
func Lines(c loop.Change) int64 { return int64(c.Insertions + c.Deletions) }

// Bytes is the size of the lines added and removed, together. A binary file counts whole, before
// and after.
func Bytes(c loop.Change) (n int64) {
	for _, f := range c.Files {
		if f.Binary {
			n += f.OldSize + f.NewSize
			continue
		}
		for _, g := range groups(f.Patch) {
			n += size(g.before) + size(g.after)
		}
	}
	return n
}

// Inspect implements [policy.Inspector].
func (m maxSize) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	if m.most == 0 {
		return nil
	}
	n := m.of(c.Change)
	if n <= m.most {
		return nil
	}
	return &policy.Breach{
		Why: fmt.Sprintf("%s may be changed, but %d are", wording.Count(m.most, m.what), n),
		Feedback: fmt.Sprintf("Your change is too large: at most %s may differ from the start of the session, and %d do. "+
			"Undo what the task does not need.", wording.Count(m.most, m.what), n),
	}
}

// A group is a run of changed lines in a patch: the removed lines, and those in their place.
type group struct{ before, after []string }

func size(lines []string) (n int64) {
	for _, l := range lines {
		n += int64(len(l))
	}
	return n
}

// groups parses a patch. Lines include their line feeds, if they have one.
func groups(patch string) []group {
	var all []group
	var last *[]string // the side of the group that the last line went to; nil outside of groups
	for l := range loop.PatchLines(patch) {
		switch l.Op {
		case '\\': // no newline at the end of the file
			if last != nil {
				n := len(*last) - 1
				(*last)[n] = strings.TrimSuffix((*last)[n], "\n")
			}
			continue
		case '-', '+':
		default:
			last = nil
			continue
		}
		if last == nil {
			all = append(all, group{})
		}
		if last = &all[len(all)-1].after; l.Op == '-' {
			last = &all[len(all)-1].before
		}
		*last = append(*last, l.Text)
	}
	return all
}

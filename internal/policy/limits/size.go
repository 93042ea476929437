package limits

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/wording"
)

// A maxSize limits the size of the change since the session began; 0 is no limit.
type maxSize struct {
	rule, what string
	most       int64
	of         func(loop.Change) int64
}

// MaxFiles limits the number of changed files.
func MaxFiles(n int) policy.Inspector {
	return maxSize{RuleMaxFiles, "file", int64(n), func(c loop.Change) int64 { return int64(len(paths(c))) }}
}

// MaxLines limits the number of lines added and removed, together.
func MaxLines(n int) policy.Inspector {
	return maxSize{RuleMaxLines, "line", int64(n), func(c loop.Change) int64 { return int64(c.Insertions + c.Deletions) }}
}

// MaxBytes limits the size of the lines added and removed, together. A binary file counts
// whole, before and after.
func MaxBytes(n int64) policy.Inspector {
	return maxSize{RuleMaxBytes, "byte", n, func(c loop.Change) (n int64) {
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
	}}
}

// Name implements [policy.Inspector].
func (m maxSize) Name() string { return m.rule }

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
	inHunk, open, before := false, false, false
	for text := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(text, "@@ "):
			inHunk, open = true, false
			continue
		case !inHunk:
			continue
		case text[0] == '\\': // no newline at the end of the file
			if open {
				trimLast(&all[len(all)-1], before)
			}
			continue
		case text[0] != '-' && text[0] != '+':
			open = false
			continue
		}
		if !open {
			all, open = append(all, group{}), true
		}
		g := &all[len(all)-1]
		if before = text[0] == '-'; before {
			g.before = append(g.before, text[1:])
		} else {
			g.after = append(g.after, text[1:])
		}
	}
	return all
}

func trimLast(g *group, before bool) {
	lines := g.after
	if before {
		lines = g.before
	}
	if n := len(lines); n > 0 {
		lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
	}
}

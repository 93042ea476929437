package limits

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// MaxFiles is the most files that may differ from the start of the session; 0 is
// no limit.
type MaxFiles int

// Name implements [policy.Inspector].
func (MaxFiles) Name() string { return RuleMaxFiles }

// Inspect implements [policy.Inspector].
func (m MaxFiles) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	return atMost(int64(len(paths(c.Change))), int64(m), "file")
}

// MaxLines is the most lines that may have been added and removed, together,
// since the session began; 0 is no limit.
type MaxLines int

// Name implements [policy.Inspector].
func (MaxLines) Name() string { return RuleMaxLines }

// Inspect implements [policy.Inspector].
func (m MaxLines) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	return atMost(int64(c.Change.Insertions+c.Change.Deletions), int64(m), "line")
}

// MaxBytes is the most bytes that the lines added and removed since the session
// began may have, together. A binary file counts whole, as it was and as it is. 0
// is no limit.
type MaxBytes int64

// Name implements [policy.Inspector].
func (MaxBytes) Name() string { return RuleMaxBytes }

// Inspect implements [policy.Inspector].
func (m MaxBytes) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	if m == 0 {
		return nil
	}
	var n int64
	for _, f := range c.Change.Files {
		if f.Binary {
			n += f.OldSize + f.NewSize
			continue
		}
		for _, g := range groups(f.Patch) {
			n += g.removed() + g.added()
		}
	}
	return atMost(n, int64(m), "byte")
}

func atMost(n, most int64, what string) *policy.Breach {
	if most == 0 || n <= most {
		return nil
	}
	return &policy.Breach{
		Why: fmt.Sprintf("%s may be changed, but %d are", count(most, what), n),
		Feedback: fmt.Sprintf("Your change is too large: at the most %s may differ from the start of the session, and %d do. "+
			"Take back what the task does not need.", count(most, what), n),
	}
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A group is a run of changed lines in a patch, what was there and what took
// its place.
type group struct{ before, after []string }

func (g group) removed() int64 { return size(g.before) }

func (g group) added() int64 { return size(g.after) }

func size(lines []string) (n int64) {
	for _, l := range lines {
		n += int64(len(l))
	}
	return n
}

// groups takes a patch apart. Lines have their line feeds, those at the end of
// a file without one have none.
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

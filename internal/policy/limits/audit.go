package limits

import (
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// Audit is not a rule: it records the figures of the iteration, to which rules may add.
type Audit struct {
	// Base is the state of the work tree when the session began.
	Base string
}

// Inspect implements [policy.Inspector].
func (a Audit) Inspect(c loop.Case, found *loop.Inspection) *policy.Breach {
	x := &found.Audit
	x.Before, x.After = a.Base, c.Change.State
	var last *loop.Round
	if n := len(c.History); n > 0 {
		last = &c.History[n-1]
		x.Before = last.Change.State
	}
	x.Files, x.Insertions, x.Deletions = len(paths(c.Delta)), c.Delta.Insertions, c.Delta.Deletions
	x.Bytes, x.Growth = grown(c.Delta, c.Change, last)
	x.Similarity = similarity(c.Delta)
	x.Excerpt = excerpt(c.Delta)
	return nil
}

// similarity returns the share of the text files changed in an iteration that is left, nil
// if it changed none.
func similarity(step loop.Change) *float64 {
	var left, was int64
	for _, f := range step.Files {
		if n, ok := kept(f); ok {
			left, was = left+n, was+f.OldSize
		}
	}
	if was == 0 {
		return nil
	}
	part := float64(left) / float64(was)
	return &part
}

// Limits for the excerpt of a change.
const (
	excerptLines = 20
	excerptBytes = 2 << 10
)

// excerpt returns the first lines of a change. Only a very long line is cut, between two
// characters.
func excerpt(c loop.Change) string {
	var b strings.Builder
	lines := 0
	for _, f := range c.Files {
		for line := range strings.Lines(f.Patch) {
			if lines == excerptLines {
				return b.String()
			}
			lines++
			if room := excerptBytes - b.Len(); len(line) > room {
				if b.Len() == 0 || room > excerptBytes/4 {
					b.WriteString(strings.ToValidUTF8(line[:room], ""))
				}
				return b.String()
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

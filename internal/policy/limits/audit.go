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
	if n := len(c.History); n > 0 {
		x.Before = c.History[n-1].Change.State
	}
	x.Files, x.Insertions, x.Deletions = len(paths(c.Delta)), c.Delta.Insertions, c.Delta.Deletions
	for _, f := range c.Delta.Files {
		x.Bytes += f.NewSize - f.OldSize
	}
	x.Excerpt = excerpt(c.Delta)
	return nil
}

// Limits for the excerpt of a change.
const (
	excerptLines = 20
	excerptBytes = 2 << 10
)

// excerpt returns the first lines of a change.
func excerpt(c loop.Change) string {
	var b strings.Builder
	for _, f := range c.Files {
		if b.WriteString(f.Patch); b.Len() > excerptBytes {
			break
		}
	}
	lines := strings.SplitAfterN(b.String(), "\n", excerptLines+1)
	text := strings.Join(lines[:min(len(lines), excerptLines)], "")
	return strings.ToValidUTF8(text[:min(len(text), excerptBytes)], "")
}

package limits

import (
	"fmt"
	"math"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/wording"
)

// MaxGrowth limits by how many percent a revision may make the work larger that the rules let
// pass last. The work is all files that differ from the start of the session, then or now. 0 is
// no limit.
type MaxGrowth float64

// Inspect implements [policy.Inspector].
func (m MaxGrowth) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	passed := loop.Passed(c.History)
	if m == 0 || passed == nil {
		return nil
	}
	_, growth := grown(c.Revision, c.Change, passed)
	if growth == nil || *growth <= float64(m) {
		return nil
	}
	return &policy.Breach{
		Why: fmt.Sprintf("the work grew by %.1f %% in one revision, and %.1f %% is the most", *growth, float64(m)),
		Feedback: fmt.Sprintf("A revision may make the work at most %.1f %% larger, and yours made it %.1f %% larger. "+
			"Change what was asked for and leave out the rest.", float64(m), *growth),
	}
}

// grown returns how much larger a step made the work since a round, in bytes and in percent, which
// is nil if the work was empty. whole is the work after it.
func grown(step, whole loop.Change, since *loop.Round) (bytes int64, percent *float64) {
	for _, f := range step.Files {
		bytes += f.NewSize - f.OldSize
	}
	before := map[string]int64{} // sizes at the end of that round
	for _, f := range whole.Files {
		before[f.Path] = max(before[f.Path], f.OldSize)
	}
	if since != nil {
		for _, f := range since.Change.Files {
			before[f.Path] = f.NewSize
		}
	}
	var was int64
	for _, size := range before {
		was += size
	}
	if was <= 0 {
		return bytes, nil
	}
	p := 100 * float64(bytes) / float64(was)
	return bytes, &p
}

// MinSimilarity is the minimal share, from 0 to 1, of a text file from an earlier iteration
// that must stay when a revision changes it. Very short files are not compared. 0 is no limit.
type MinSimilarity float64

const telling = 200 // bytes; shorter files are not compared

// Inspect implements [policy.Inspector].
func (m MinSimilarity) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	if m == 0 || loop.Passed(c.History) == nil {
		return nil
	}
	ours := map[string]bool{}
	for _, round := range c.History {
		for _, f := range round.Change.Files {
			ours[f.Path] = true
		}
	}
	var rewritten, named []string
	for _, f := range c.Revision.Files {
		kept, ok := kept(f)
		if !ok || !ours[f.Path] || f.OldSize < telling {
			continue
		}
		if part := float64(kept) / float64(f.OldSize); part < float64(m) {
			named = append(named, f.Path)
			rewritten = append(rewritten, fmt.Sprintf("%s (%.0f %%)", quote(f.Path), math.Floor(100*part)))
		}
	}
	if len(named) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: fmt.Sprintf("less than %.0f %% of %s is left: it was rewritten, not revised", 100*float64(m), listed(named)),
		Feedback: fmt.Sprintf("A revision is a patch, not a rewrite: at least %.0f %% of a file that you had worked on must stay as it was. "+
			"Less was left of %s. Put back what did not have to change.", 100*float64(m), few(rewritten)),
	}
}

// kept returns how many bytes of a file's old text are still in the new one. ok is false for
// files that were added or removed, and for binary ones.
func kept(f loop.FileChange) (n int64, ok bool) {
	if f.Status != loop.FileModified || f.Binary || f.OldSize == 0 {
		return 0, false
	}
	n = f.OldSize
	for _, g := range groups(f.Patch) {
		n += common(g) - size(g.before)
	}
	return max(n, 0), true
}

// common returns how many bytes of a group's old words are in the new ones, in the same order.
func common(g group) int64 {
	const most = 4 << 20 // cells of the table
	a, b := word().FindAllString(strings.Join(g.before, ""), -1), word().FindAllString(strings.Join(g.after, ""), -1)
	if len(a)*len(b) > most {
		return atLeast(g)
	}
	row := make([]int64, len(b)+1)
	for _, w := range a {
		var corner int64 // the cell above and to the left
		for j := range b {
			above := row[j+1]
			row[j+1] = max(above, row[j])
			if b[j] == w {
				row[j+1] = corner + int64(len(w))
			}
			corner = above
		}
	}
	return row[len(b)]
}

// atLeast is common for very large groups: it counts whole lines, in any order.
func atLeast(g group) (n int64) {
	has := map[string]int{}
	for _, l := range g.after {
		has[l]++
	}
	for _, l := range g.before {
		if has[l] > 0 {
			has[l]--
			n += int64(len(l))
		}
	}
	return n
}

// word matches a word, blanks, or any other character.
var word = wording.Pattern(`(?s)[\pL\p{Nd}_]+|[ \t]+|.`)

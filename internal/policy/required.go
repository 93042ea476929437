package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/critique"
	"codeloops/internal/loop"
)

// The rule that the changes which a critic requires are made, and the name under
// which codeloops is to make them itself.
const (
	RuleRequired = "required_changes"
	RuleFallback = "required_changes_fallback"
)

// Files are those of the work tree, as the actor left them.
type Files interface {
	// Read returns the content of a regular file by its path in the work tree,
	// slash-separated. Nothing outside of the work tree can be read.
	Read(path string) ([]byte, error)
}

// Required looks, after a revision, whether each change that critics required
// was made: whether its phrase is in one of the files that have changed since
// the session began, or in none of them.
type Required struct {
	// On sends work back that lacks what the last critic required. No critic has
	// to be paid for that: the actor is asked again, strictly. Otherwise, it is
	// only noted, and [Findings] lets no DONE pass over it.
	On    bool
	Files Files
	// Apply lets codeloops make the changes by itself when the actor does not,
	// where a single text file has changed.
	Apply bool
}

// Name implements [Inspector].
func (Required) Name() string { return RuleRequired }

// Inspect implements [Inspector]. What was required, and what of it is there,
// goes into the audit.
func (q Required) Inspect(c loop.Case, found *loop.Inspection) *Breach {
	asked := q.asked(c.History)
	changes := slices.Clone(asked)
	for _, d := range demands(c.History) {
		if !slices.ContainsFunc(changes, func(c critique.Change) bool { return c.Text == d.Text || c.Against(d) }) {
			changes = append(changes, d)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	texts := q.texts(c.Change)
	var missing []string
	for i, change := range changes {
		kept := texts.keep(change)
		found.Audit.Required = append(found.Audit.Required, loop.Requirement{Text: change.Text, Enforced: kept})
		if !kept && i < len(asked) {
			missing = append(missing, change.Text)
		}
	}
	if found.Audit.After == "" {
		found.Audit.After = c.Change.State
	}
	if len(missing) == 0 {
		return nil
	}
	b := &Breach{
		Why:      "the required changes were not made: " + strings.Join(missing, "; "),
		Feedback: strictly(missing, Asked(c.History).RequiredChanges, texts.unread),
		Required: Asked(c.History).RequiredChanges,
		Back:     true,
	}
	if _, one := onlyText(c.Change); one && q.Apply {
		b.Last = RuleFallback
	}
	return b
}

// asked returns what the last critic required, where work has to keep it before
// another one is asked.
func (q Required) asked(history []loop.Round) []critique.Change {
	if !q.On {
		return nil
	}
	changes, err := critique.Changes(Asked(history).RequiredChanges)
	if err != nil {
		return nil // a verdict under other rules: before the session was resumed
	}
	return changes
}

// strictly asks for the changes in words that leave nothing open.
func strictly(missing, all, unread []string) string {
	var b strings.Builder
	b.WriteString("A program has looked for the changes that the review requires, and does not find these in the files that you have changed:\n")
	for _, m := range missing {
		fmt.Fprintf(&b, "- %s\n", m)
	}
	for _, path := range unread {
		fmt.Fprintf(&b, "(It could not read %s.)\n", path)
	}
	b.WriteString("\nMake every required change exactly, and nothing else:\n")
	for _, a := range all {
		fmt.Fprintf(&b, "- %s\n", a)
	}
	b.WriteString(wordForWord)
	return b.String()
}

const wordForWord = "The phrase of an ADD or MUST_INCLUDE has to stand, word for word, in one of the files that you change. The phrase of a REMOVE or MUST_REMOVE must stand in none of them."

// demands returns the changes that stand in the findings of the session and that
// no review has withdrawn. Of two that cannot be made together the later counts.
func demands(history []loop.Round) (all []critique.Change) {
	findings := slices.SortedStableFunc(slices.Values(loop.Findings(history)), func(a, b loop.Finding) int { return cmp.Compare(b.Since, a.Since) })
	for _, f := range findings {
		c, ok := critique.Demand(f.Text)
		if ok && f.State != loop.FindingWithdrawn && !slices.ContainsFunc(all, c.Against) {
			all = append(all, c)
		}
	}
	return all
}

// normalized are the texts of changed files, made comparable.
type normalized struct {
	texts  []string
	unread []string // files that are no text, or too large
}

func (q Required) texts(c loop.Change) (n normalized) {
	for _, f := range c.Files {
		if f.Status == loop.FileDeleted || !regular(f.NewMode) || f.Binary {
			continue
		}
		content, err := q.Files.Read(f.Path)
		if err != nil {
			n.unread = append(n.unread, f.Path)
			continue
		}
		n.texts = append(n.texts, critique.Normalize(string(content)))
	}
	return n
}

// keep reports whether a change was made. What cannot be read may still hold
// what has to be gone.
func (n normalized) keep(c critique.Change) bool {
	for _, text := range n.texts {
		if critique.Holds(text, c.Phrase) {
			return !c.Remove
		}
	}
	return c.Remove && len(n.unread) == 0
}

// regular reports whether a git file mode is that of a plain file.
func regular(mode uint32) bool { return mode&0o170000 == 0o100000 }

// onlyText returns the one file that has changed, if it is a text and there is
// no other.
func onlyText(c loop.Change) (path string, ok bool) {
	if len(c.Files) != 1 {
		return "", false
	}
	f := c.Files[0]
	return f.Path, f.Status != loop.FileDeleted && regular(f.NewMode) && !f.Binary
}

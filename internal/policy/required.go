package policy

import (
	"fmt"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// RuleRequired is the rule that the changes required by a critic are made.
const RuleRequired = "required_changes"

// Required checks that each change that the last critic required was made in a revision: its phrase must be
// in one of the files that have changed since the session began, or in none of them. Work without it goes
// back: the actor is asked again, strictly and without a critic's turn.
type Required struct {
	On bool
	// Read returns the content of a regular file of the work tree by its slash-separated path.
	Read func(path string) ([]byte, error)
}

// Inspect implements [Inspector]. It records in the audit which required changes were made.
func (q Required) Inspect(c loop.Case, found *loop.Inspection) *Breach {
	asked := PendingVerdict(c.History).RequiredChanges
	changes, err := verdict.ParseChanges(asked)
	if !q.On || len(changes) == 0 || err != nil { // a verdict under other rules, from before the session was resumed
		return nil
	}
	texts := q.texts(c.Change)
	var missing []string
	for _, change := range changes {
		kept := texts.keep(change)
		found.Audit.Required = append(found.Audit.Required, loop.Requirement{Text: change.Text, Enforced: kept})
		if !kept {
			missing = append(missing, change.Text)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &Breach{
		Why:      "the required changes were not made: " + strings.Join(missing, "; "),
		Feedback: strictly(missing, asked, texts.unread),
		Required: asked,
		Back:     true,
	}
}

// strictly asks for the changes without any ambiguity.
func strictly(missing, all, unread []string) string {
	var b strings.Builder
	b.WriteString("A program looked in the files that you changed for the changes that the review requires, and did not find these:\n")
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
	b.WriteString(verdict.WordForWord)
	return b.String()
}

// normalized holds the normalized texts of changed files.
type normalized struct {
	texts  []string
	unread []string // files that could not be read
}

func (q Required) texts(c loop.Change) (n normalized) {
	for _, f := range c.Files {
		if f.Status == loop.FileDeleted || !regular(f.NewMode) || f.Binary {
			continue
		}
		content, err := q.Read(f.Path)
		if err != nil {
			n.unread = append(n.unread, f.Path)
			continue
		}
		n.texts = append(n.texts, verdict.Normalize(string(content)))
	}
	return n
}

// keep reports whether a change was made. An unread file may still hold a phrase that must
// be gone.
func (n normalized) keep(c verdict.RequiredChange) bool {
	for _, text := range n.texts {
		if verdict.Holds(text, c.Phrase) {
			return !c.Remove
		}
	}
	return c.Remove && len(n.unread) == 0
}

// regular reports whether a git file mode is that of a plain file.
func regular(mode uint32) bool { return mode&0o170000 == 0o100000 }

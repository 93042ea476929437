package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// The rule that the changes required by a critic are made, and the rule under which
// codeloops makes them itself.
const (
	RuleRequired = "required_changes"
	RuleFallback = "required_changes_fallback"
)

// Required checks that each required change was made in a revision: its phrase must be in one
// of the files that have changed since the session began, or in none of them.
type Required struct {
	// On sends work back that lacks what the last critic required: the actor is asked
	// again, strictly and without a critic's turn. Otherwise the result is only recorded,
	// and [Findings] refuses a DONE.
	On bool
	// Read returns the content of a regular file of the work tree by its slash-separated path.
	Read func(path string) ([]byte, error)
	// Apply lets codeloops make the changes if the actor does not and only one text file
	// has changed.
	Apply bool
}

// Inspect implements [Inspector]. It records in the audit which required changes were made.
func (q Required) Inspect(c loop.Case, found *loop.Inspection) *Breach {
	asked := q.asked(c.History)
	changes := slices.Clone(asked)
	for _, d := range demands(c.History) {
		if !slices.ContainsFunc(changes, func(c verdict.RequiredChange) bool { return c.Text == d.Text || c.Against(d) }) {
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
		Feedback: strictly(missing, PendingVerdict(c.History).RequiredChanges, texts.unread),
		Required: PendingVerdict(c.History).RequiredChanges,
		Back:     true,
	}
	if _, one := onlyText(c.Change); one && q.Apply {
		b.Last = RuleFallback
	}
	return b
}

// asked returns what the last critic required, if the rule is on.
func (q Required) asked(history []loop.Round) []verdict.RequiredChange {
	if !q.On {
		return nil
	}
	changes, err := verdict.ParseChanges(PendingVerdict(history).RequiredChanges)
	if err != nil {
		return nil // a verdict under other rules, from before the session was resumed
	}
	return changes
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

// demands returns the required changes in the findings of the session that no review has
// withdrawn. If two contradict each other, the later one counts.
func demands(history []loop.Round) (all []verdict.RequiredChange) {
	findings := slices.SortedStableFunc(slices.Values(loop.Findings(history)), func(a, b loop.Finding) int { return cmp.Compare(b.Since, a.Since) })
	for _, f := range findings {
		c, ok := verdict.Demand(f.Text)
		if ok && f.State != loop.FindingWithdrawn && !slices.ContainsFunc(all, c.Against) {
			all = append(all, c)
		}
	}
	return all
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

// onlyText returns the changed file if it is the only one, and a text.
func onlyText(c loop.Change) (path string, ok bool) {
	if len(c.Files) != 1 {
		return "", false
	}
	f := c.Files[0]
	return f.Path, f.Status != loop.FileDeleted && regular(f.NewMode) && !f.Binary
}

// An Editor reads and writes files of the work tree, and nothing outside of it.
type Editor interface {
	Read(path string) ([]byte, error)
	// Write replaces the content of an existing regular file, and keeps its mode.
	Write(path string, content []byte) error
}

// A Fixer is a [loop.Actor] that makes required changes mechanically, in the turn after
// [Required] has found that the actor does not make them. All other turns are the actor's.
type Fixer struct {
	loop.Actor
	Files Editor
}

// Act implements [loop.Actor].
func (m Fixer) Act(ctx context.Context, b loop.Brief, watch loop.Watch) (loop.Attempt, error) {
	if b.Previous == nil || b.Previous.Rule != RuleFallback {
		return m.Actor.Act(ctx, b, watch)
	}
	said, err := m.fix(*b.Previous)
	if err != nil {
		return loop.Attempt{}, fmt.Errorf("make the required changes: %w", err)
	}
	if watch != nil {
		watch(loop.Notice{Kind: loop.NoticeMessage, Text: strings.Join(strings.Fields(said), " ")})
	}
	return loop.Attempt{Turn: loop.Turn{
		Execution: loop.Execution{Stdout: loop.Output{Text: said, Total: int64(len(said))}},
		Try: loop.Try{
			Ending: loop.EndCompleted,
			Usage:  loop.Usage{Tokens: &loop.Tokens{}, CostUSD: new(float64), Rounds: new(int)}, // no model was used
		},
	}}, nil
}

func (m Fixer) fix(round loop.Round) (said string, err error) {
	path, ok := onlyText(round.Change)
	if !ok {
		return "codeloops could not make the required changes by itself: more has changed than one text file.\n", nil
	}
	changes, err := verdict.ParseChanges(round.Verdict.RequiredChanges)
	if err != nil {
		return "", err
	}
	text, err := m.Files.Read(path)
	if err != nil {
		return "", err
	}
	if err := m.Files.Write(path, []byte(verdict.Apply(string(text), changes))); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "codeloops made the required changes in %s by itself:\n", path)
	for _, c := range changes {
		fmt.Fprintf(&b, "- %s\n", c.Text)
	}
	return b.String(), nil
}

package forge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// mostQuoted is how much of a remark, or of a check's output, stands in a prompt, in bytes.
const mostQuoted = 8 << 10

// Feedback is what is to be changed in a request.
type Feedback struct {
	Request   Request  `json:"request"`
	Remarks   []Remark `json:"remarks"`   // of those who count, oldest first
	Checks    []Check  `json:"checks"`    // that failed
	Strangers int      `json:"strangers"` // remarks of others

	noun    string
	pending []string // checks that are not over
	none    bool     // no check has begun
}

// Feedback returns what was said about a request since its last commit by those who may write to the repository, or by
// the named people alone, and what has failed.
func (t *Target) Feedback(ctx context.Context, r Request, from []string) (f Feedback, err error) {
	f = Feedback{Request: r, Remarks: []Remark{}, Checks: []Check{}, noun: t.Place.Kind.Noun()}
	since, err := t.Server.Committed(ctx, r.Commit)
	if err != nil {
		return f, err
	}
	all, err := t.Server.Said(ctx, r)
	if err != nil {
		return f, err
	}
	for _, one := range all {
		counts := one.Trusted && from == nil || slices.ContainsFunc(from, func(name string) bool { return strings.EqualFold(name, one.Author) })
		switch {
		case !one.At.After(since):
		case counts:
			f.Remarks = append(f.Remarks, one)
		default:
			f.Strangers++
		}
	}
	slices.SortStableFunc(f.Remarks, func(a, b Remark) int { return a.At.Compare(b.At) })
	checks, err := t.Server.Checks(ctx, r)
	for _, c := range checks {
		switch c.State {
		case Failed:
			f.Checks = append(f.Checks, c)
		case Pending:
			f.pending = append(f.pending, c.Name)
		case Passed:
		}
	}
	f.none = len(checks) == 0
	return f, err
}

// Empty reports whether there is nothing to do.
func (f Feedback) Empty() bool { return len(f.Remarks)+len(f.Checks) == 0 }

// Told are sentences about what the prompt does not hold.
func (f Feedback) Told() (all []string) {
	if f.none {
		all = append(all, fmt.Sprintf("no check has begun on %.12s yet", f.Request.Commit))
	}
	if len(f.pending) > 0 {
		all = append(all, "not over yet: "+wording.Line(strings.Join(f.pending, ", ")))
	}
	if f.Strangers > 0 {
		all = append(all, wording.Count(f.Strangers, "remark")+" of people who do not count left out (--from NAME takes them)")
	}
	return all
}

// Prompt is what is to be done, for an agent. What the server says stands in fences.
func (f Feedback) Prompt() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Answer the review of the %s %q: change what is asked for below, and mend the checks that have failed.\n", f.noun, wording.Line(f.Request.Title))
	for _, one := range f.Remarks {
		where := ""
		if one.Path != "" {
			where = " on " + wording.Line(one.Path)
			if one.Line > 0 {
				where += fmt.Sprintf(", line %d", one.Line)
			}
		}
		fmt.Fprintf(&b, "\n%s says%s:\n\n%s", wording.Line(one.Author), where, prompt.Quoted(one.Text, mostQuoted))
	}
	for _, c := range f.Checks {
		fmt.Fprintf(&b, "\nThe check %q has failed (%s).", wording.Line(c.Name), wording.Line(c.URL))
		if strings.TrimSpace(c.Output) != "" {
			fmt.Fprintf(&b, " It ended with:\n\n%s", prompt.Quoted(c.Output, mostQuoted))
		} else {
			b.WriteString("\n")
		}
	}
	return b.String()
}

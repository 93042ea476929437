package verdict

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// The members that only an object has.
const (
	memberType     = "TYPE"
	memberSeverity = "SEVERITY"
	memberReason   = "REASON"
	memberIssues   = "ISSUES"
	memberRisks    = "RISKS"
	memberChanges  = "REQUIRED_CHANGES"
	memberFindings = "FINDINGS"
)

// A member is one part of a decision: a label of a block, or a member of an object.
type member struct {
	name  string // in capitals
	text  string
	value any  // of an object
	above bool // above the decision line: its text counts if there is none below
}

type members []member

// text returns the texts of a member.
func (m members) text(name string) string {
	for _, above := range []bool{false, true} {
		var all []string
		for _, x := range m {
			if x.name == name && x.above == above && x.text != "" {
				all = append(all, x.text)
			}
		}
		if len(all) > 0 {
			return strings.Join(all, "\n")
		}
	}
	return ""
}

// number returns a number from 0 to 1. Numbers that differ are none.
func (m members) number(name string) (n *float64) {
	for i, x := range m.all(name) {
		next := fraction(x.text)
		if next == nil || i > 0 && *next != *n {
			return nil
		}
		n = next
	}
	return n
}

func (m members) all(name string) members {
	return slices.DeleteFunc(slices.Clone(m), func(x member) bool { return x.name != name })
}

// list returns the items of a name. A single one that should be in a list must not be lost.
func (m members) list(name string) (all []any) {
	for _, x := range m.all(name) {
		if items, ok := x.value.([]any); ok {
			all = append(all, items...)
		} else if x.value != nil && x.value != false {
			all = append(all, x.value)
		}
	}
	return all
}

// seals returns the seals of a decision.
func (m members) seals() (all []Seal) {
	for _, x := range m.all(labelSeal) {
		first, _ := cutLine(x.text)
		all = append(all, sealOf(first))
	}
	return all
}

// placeholder returns a value that is still a placeholder of the instructions; form is set
// if all values are.
func (m members) placeholder() (mark string, form bool) {
	form = true
	for _, x := range m {
		first, _ := cutLine(x.text)
		switch {
		case x.name == labelSeal:
		case !isPlaceholder(first):
			form = false
		case mark == "":
			mark = first
		}
	}
	return mark, form && mark != ""
}

// isPlaceholder reports whether a value is "<something>" or an ellipsis.
func isPlaceholder(value string) bool {
	value = strings.Trim(value, "*_`\" \t")
	inner, opened := strings.CutPrefix(value, "<")
	inner, closed := strings.CutSuffix(inner, ">")
	return value == "…" || value == "..." || opened && closed && !strings.ContainsAny(inner, "<>")
}

// verdict returns what the members say, without the decision and the answers.
func (m members) verdict() loop.Verdict {
	v := loop.Verdict{
		Summary:         m.text(labelSummary),
		Rating:          loop.Rating{Confidence: m.number(labelConfidence), Score: m.number(labelScore)},
		Severity:        m.text(memberSeverity),
		Feedback:        m.text(labelFeedback),
		Analysis:        m.text(labelAnalysis),
		Recovery:        m.text(labelRecovery),
		Issues:          texts(m.list(memberIssues)),
		RequiredChanges: texts(m.list(memberChanges)),
	}
	for _, item := range m.list(memberRisks) {
		risk := loop.Risk{Detail: textOf(item)}
		if fields, ok := item.(map[string]any); ok {
			risk.Type = textOf(fields["type"])
			if textOf(fields["note"]) == "" { // which the policy rejects
				risk.Detail = textOf(fields["description"])
			}
		}
		v.Risks = append(v.Risks, risk)
	}
	return v
}

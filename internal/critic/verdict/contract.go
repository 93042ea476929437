package verdict

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// NoReason is the reason of an escalation that gives none.
const NoReason = "the critic escalates and gives no reason"

// The severities of a structured verdict; the default is medium.
const (
	low    = "low"
	medium = "medium"
	high   = "high"
)

// A Contract is what a policy requires of every verdict. The zero value requires nothing.
type Contract struct {
	// Decisions are the allowed decisions among done, continue, error and escalate;
	// none allows all.
	Decisions []string
	// Threshold is the score that approves; if it is not 0, a verdict needs a score.
	Threshold float64
	// Structured is what a structured verdict must satisfy; nil: replies are free text.
	Structured *loop.CritiquePolicy
	// Sealed requires every decision to repeat the seal of its prompt.
	Sealed bool
}

// ContractOf returns the contract of a policy.
func ContractOf(p loop.Policy) Contract {
	c := Contract{Decisions: p.CriticDecisions, Structured: p.Critique, Sealed: p.Profile == loop.ProfileStrict}
	if p.ApprovalThreshold != nil {
		c.Threshold = *p.ApprovalThreshold
	}
	return c
}

// wordOf returns the decision of a verdict as a policy spells it.
func wordOf(v loop.Verdict) string { return strings.ToLower(v.Word()) }

// May reports whether a decision is allowed.
func (c Contract) May(word string) bool {
	return len(c.Decisions) == 0 || slices.Contains(c.Decisions, word)
}

// Check says what is wrong with a verdict, in a sentence for people and for the critic
// that is asked again; "" for a verdict that satisfies the contract.
func (c Contract) Check(v loop.Verdict) string {
	for _, problem := range c.terms(v) {
		if problem != "" {
			return problem
		}
	}
	return ""
}

// terms yields the name of each requirement that applies, and how a verdict breaks it, "" if
// it does not: first on each part of a verdict, then on the parts together.
func (c Contract) terms(v loop.Verdict) iter.Seq2[string, string] {
	return func(yield func(name, problem string) bool) {
		_ = yield("critic_decisions", c.decision(v)) &&
			yield("score", c.score(v)) &&
			c.Structured != nil &&
			yield("severity", severity(v)) &&
			yield("max_risks", tooMany("risks", len(v.Risks), c.Structured.MaxRisks)) &&
			yield("risk_types", c.riskTypes(v)) &&
			yield("risk_note", riskNotes(v)) &&
			yield("max_required_changes", tooMany("required changes", len(v.RequiredChanges), c.Structured.MaxRequiredChanges)) &&
			yield("approve_requires_nothing", never(v, "done", len(v.RequiredChanges) > 0, "it approves the work and requires changes")) &&
			yield("approve_without_high_risk", never(v, "done", c.highRisk(v), "it approves the work and finds a high risk in it")) &&
			yield("revise_requires_changes", never(v, "continue", len(v.RequiredChanges) == 0, "it asks for a revision and requires no changes")) &&
			yield("changes_enforceable", enforceable(v)) &&
			yield("high_risk_escalates", never(v, "continue", c.highRisk(v), "it finds a high risk, which it must escalate to a person")) &&
			yield("escalate_reason", never(v, "escalate", v.Escalation == NoReason, "it escalates and gives no reason"))
	}
}

// never returns what is said of a verdict with a decision if it is as it must never be.
func never(v loop.Verdict, decision string, is bool, says string) string {
	if is && wordOf(v) == decision {
		return says
	}
	return ""
}

// highRisk reports whether the risk is so high that only a person may decide.
func (c Contract) highRisk(v loop.Verdict) bool {
	return severityOf(v) == high || slices.ContainsFunc(v.Risks, func(r loop.Risk) bool {
		return slices.Contains(c.Structured.HighRiskTypes, r.Type)
	})
}

func (c Contract) decision(v loop.Verdict) string {
	if c.May(wordOf(v)) {
		return ""
	}
	return fmt.Sprintf("it decides %s, and this run lets a critic decide only %s", wordOf(v), strings.Join(c.Decisions, ", "))
}

func (c Contract) score(v loop.Verdict) string {
	if c.Threshold > 0 && v.Score == nil && v.Escalation == "" && v.Decision != loop.Error {
		return "it gives no score from 0 to 1, and this run goes by the score"
	}
	return ""
}

func severity(v loop.Verdict) string {
	switch severityOf(v) {
	case low, medium, high:
		return ""
	}
	return fmt.Sprintf("its severity is %.40q, which is none of low, medium and high", v.Severity)
}

// severityOf returns the severity of a verdict, or whatever it gives in its place.
func severityOf(v loop.Verdict) string {
	if v.Severity == "" {
		return medium
	}
	return strings.ToLower(strings.TrimSpace(v.Severity))
}

func tooMany(what string, n, most int) string {
	if most == 0 || n <= most {
		return ""
	}
	return fmt.Sprintf("it names %d %s, and %d are the most", n, what, most)
}

func (c Contract) riskTypes(v loop.Verdict) string {
	for _, r := range v.Risks {
		if !slices.Contains(c.Structured.RiskTypes, r.Type) {
			return fmt.Sprintf("it names a risk of the type %.40q, which is none of %s", r.Type, strings.Join(c.Structured.RiskTypes, ", "))
		}
	}
	return ""
}

func riskNotes(v loop.Verdict) string {
	for _, r := range v.Risks {
		if r.Detail == "" {
			return fmt.Sprintf("it names a risk of the type %.40q without a note on it", r.Type)
		}
	}
	return ""
}

func enforceable(v loop.Verdict) string {
	if wordOf(v) != "continue" {
		return ""
	}
	if _, err := ParseChanges(v.RequiredChanges); err != nil {
		return err.Error()
	}
	return ""
}

package verdict

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// NoReason is the reason of an escalation that gives none.
const NoReason = "the critic escalates and gives no reason"

// The severities of a structured verdict; the default is [Medium].
const (
	Low    = "low"
	Medium = "medium"
	High   = "high"
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

// Word returns the decision of a verdict as a policy spells it.
func Word(v loop.Verdict) string { return strings.ToLower(v.Word()) }

// May reports whether a decision is allowed.
func (c Contract) May(word string) bool {
	return len(c.Decisions) == 0 || slices.Contains(c.Decisions, word)
}

// Check says what is wrong with a verdict, in a sentence for people and for the critic
// that is asked again; "" for a verdict that satisfies the contract.
func (c Contract) Check(v loop.Verdict) string {
	for _, t := range c.terms() {
		if problem := t.broken(c, v); problem != "" {
			return problem
		}
	}
	return ""
}

// A term is one requirement of a contract.
type term struct {
	name   string
	broken func(Contract, loop.Verdict) string // says how; "" if it is not
}

// terms returns the requirements that apply: first on each part of a verdict, then on the
// parts together.
func (c Contract) terms() []term {
	all := []term{
		{"critic_decisions", Contract.decision},
		{"score", Contract.score},
	}
	if c.Structured == nil {
		return all
	}
	return append(all,
		term{"severity", severity},
		term{"max_risks", func(c Contract, v loop.Verdict) string { return tooMany("risks", len(v.Risks), c.Structured.MaxRisks) }},
		term{"risk_types", Contract.riskTypes},
		term{"risk_note", riskNotes},
		term{"max_required_changes", func(c Contract, v loop.Verdict) string {
			return tooMany("required changes", len(v.RequiredChanges), c.Structured.MaxRequiredChanges)
		}},
		never("approve_requires_nothing", "done", Contract.requires, "it approves the work and requires changes"),
		never("approve_without_high_risk", "done", Contract.highRisk, "it approves the work and finds a high risk in it"),
		never("revise_requires_changes", "continue", Contract.requiresNothing, "it asks for a revision and requires no changes"),
		term{"changes_enforceable", enforceable},
		never("high_risk_escalates", "continue", Contract.highRisk, "it finds a high risk, which it must escalate to a person"),
		never("escalate_reason", "escalate", Contract.reasonless, "it escalates and gives no reason"),
	)
}

// never is the term that a verdict with a decision must not be of a kind.
func never(name, decision string, is func(Contract, loop.Verdict) bool, says string) term {
	return term{name, func(c Contract, v loop.Verdict) string {
		if Word(v) == decision && is(c, v) {
			return says
		}
		return ""
	}}
}

func (Contract) requires(v loop.Verdict) bool { return len(v.RequiredChanges) > 0 }

func (Contract) requiresNothing(v loop.Verdict) bool { return len(v.RequiredChanges) == 0 }

func (Contract) reasonless(v loop.Verdict) bool { return v.Escalation == NoReason }

// highRisk reports whether the risk is so high that only a person may decide.
func (c Contract) highRisk(v loop.Verdict) bool {
	return severityOf(v) == High || slices.ContainsFunc(v.Risks, func(r loop.Risk) bool {
		return slices.Contains(c.Structured.HighRiskTypes, r.Type)
	})
}

func (c Contract) decision(v loop.Verdict) string {
	if c.May(Word(v)) {
		return ""
	}
	return fmt.Sprintf("it decides %s, and this run lets a critic decide only %s", Word(v), strings.Join(c.Decisions, ", "))
}

func (c Contract) score(v loop.Verdict) string {
	if c.Threshold > 0 && v.Score == nil && v.Escalation == "" && v.Decision != loop.Error {
		return "it gives no score from 0 to 1, and this run goes by the score"
	}
	return ""
}

func severity(_ Contract, v loop.Verdict) string {
	switch severityOf(v) {
	case Low, Medium, High:
		return ""
	}
	return fmt.Sprintf("its severity is %.40q, which is none of low, medium and high", v.Severity)
}

// severityOf returns the severity of a verdict, or whatever it gives in its place.
func severityOf(v loop.Verdict) string {
	if v.Severity == "" {
		return Medium
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

func riskNotes(_ Contract, v loop.Verdict) string {
	for _, r := range v.Risks {
		if r.Detail == "" {
			return fmt.Sprintf("it names a risk of the type %.40q without a note on it", r.Type)
		}
	}
	return ""
}

func enforceable(_ Contract, v loop.Verdict) string {
	if Word(v) != "continue" {
		return ""
	}
	_, err := ParseChanges(v.RequiredChanges)
	if err != nil {
		return err.Error()
	}
	return ""
}

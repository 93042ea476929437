package verdict

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// NoReason stands in for the reason of an escalation that gives none.
const NoReason = "the critic escalates and gives no reason"

// The severities that a structured verdict may have; one that names none has
// [Medium].
const (
	Low    = "low"
	Medium = "medium"
	High   = "high"
)

// A Contract is what a policy asks of every verdict. The zero value asks for
// nothing.
type Contract struct {
	// Decisions are the words that a critic may decide with: done, continue,
	// error and escalate; none is any.
	Decisions []string
	// Threshold, when it is not 0, is the score that approves: a verdict then
	// needs a score.
	Threshold float64
	// Structured is what a structured verdict must keep; nil: replies are free.
	Structured *loop.CritiquePolicy
	// Sealed wants every decision to repeat the seal of its prompt.
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

// Word is the decision of a verdict as a policy spells it.
func Word(v loop.Verdict) string {
	if v.Escalation != "" {
		return "escalate"
	}
	return strings.ToLower(string(v.Decision))
}

// May reports whether a critic may decide with a word.
func (c Contract) May(word string) bool {
	return len(c.Decisions) == 0 || slices.Contains(c.Decisions, word)
}

// Check returns what is wrong with a verdict, as a sentence for a person and for
// the critic when it is asked again; "" is a verdict that keeps the contract.
func (c Contract) Check(v loop.Verdict) string {
	for _, t := range c.terms() {
		if problem := t.broken(c, v); problem != "" {
			return problem
		}
	}
	return ""
}

// A term is one thing that a contract asks for.
type term struct {
	name   string
	broken func(Contract, loop.Verdict) string // how, or ""
}

// terms are those that apply. Those of a structured verdict, and their order,
// are the ones that a policy boundary between a critic and what is done needs:
// first what each part may hold, then what the parts say together.
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

// never is the term that a verdict which decides something is not of a kind.
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

// highRisk reports whether only a person may decide.
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
	needs := c.Threshold > 0 && v.Score == nil && v.Escalation == "" && v.Decision != loop.Error
	if needs {
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

// severityOf is the severity of a verdict, or what it names in its place.
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

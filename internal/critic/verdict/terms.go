package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// NoReason is the reason of an escalation that gives none.
const NoReason = "the critic escalates and gives no reason"

// Check returns the name of the first term that a verdict breaks, and what is wrong, in a sentence for
// people and for the critic that is asked again; "" for a verdict that satisfies the policy.
func Check(p loop.Policy, v loop.Verdict) (term, problem string) {
	for _, t := range terms(p, v) {
		if t.broken {
			return t.name, t.says
		}
	}
	return "", ""
}

// A term is one requirement, and what is said of a verdict that breaks it.
type term struct {
	name   string
	broken bool
	says   string
}

// terms returns the requirements that apply to a verdict: first those on each part of it, then those
// on the parts together.
func terms(p loop.Policy, v loop.Verdict) []term {
	word, said := strings.ToLower(v.Word()), fmt.Sprintf
	all := []term{
		{"critic_decisions", !p.Allows(word), said("it decides %s, and this run lets a critic decide only %s", word, strings.Join(p.CriticDecisions, ", "))},
		{"score", p.Threshold() > 0 && v.Score == nil && v.Decision != loop.Error, "it gives no score from 0 to 1, and this run goes by the score"},
	}
	s := p.Critique
	if s == nil {
		return all
	}
	severity := cmp.Or(strings.ToLower(strings.TrimSpace(v.Severity)), "medium")
	risks, changes := len(v.Risks), len(v.RequiredChanges)
	other, foreign := firstRisk(v, func(r loop.Risk) bool { return !slices.Contains(s.RiskTypes, r.Type) })
	bare, noteless := firstRisk(v, func(r loop.Risk) bool { return r.Detail == "" })
	_, grave := firstRisk(v, func(r loop.Risk) bool { return slices.Contains(s.HighRiskTypes, r.Type) })
	high := severity == "high" || grave
	_, err := ParseChanges(v.RequiredChanges)
	return append(all,
		term{"severity", !slices.Contains([]string{"low", "medium", "high"}, severity), said("its severity is %.40q, which is none of low, medium and high", v.Severity)},
		term{"max_risks", s.MaxRisks > 0 && risks > s.MaxRisks, said("it names %d risks, and %d are the most", risks, s.MaxRisks)},
		term{"risk_types", foreign, said("it names a risk of the type %.40q, which is none of %s", other, strings.Join(s.RiskTypes, ", "))},
		term{"risk_note", noteless, said("it names a risk of the type %.40q without a note on it", bare)},
		term{"max_required_changes", s.MaxRequiredChanges > 0 && changes > s.MaxRequiredChanges, said("it names %d required changes, and %d are the most", changes, s.MaxRequiredChanges)},
		term{"approve_requires_nothing", word == "done" && changes > 0, "it approves the work and requires changes"},
		term{"approve_without_high_risk", word == "done" && high, "it approves the work and finds a high risk in it"},
		term{"revise_requires_changes", word == "continue" && changes == 0, "it asks for a revision and requires no changes"},
		term{"changes_enforceable", word == "continue" && err != nil, fmt.Sprint(err)},
		term{"high_risk_escalates", word == "continue" && high, "it finds a high risk, which it must escalate to a person"},
		term{"escalate_reason", v.Escalation == NoReason, "it escalates and gives no reason"},
	)
}

// firstRisk returns the type of the first risk of a kind.
func firstRisk(v loop.Verdict, is func(loop.Risk) bool) (kind string, found bool) {
	if i := slices.IndexFunc(v.Risks, is); i >= 0 {
		return v.Risks[i].Type, true
	}
	return "", false
}

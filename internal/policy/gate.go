// Package policy holds the rules that a run must follow, whatever its agents say.
package policy

import (
	"codeloops/internal/loop"
)

// A Gate is the [loop.Gate] of a run: its limits and its rules, in order. The zero value
// accepts everything. It keeps no state, since a rule finds earlier iterations in the case,
// so a resumed or replayed run has the same result. It is as safe for concurrent use as its
// rules.
type Gate struct {
	MaxIterations        int // 0: no limit
	MaxConsecutiveErrors int // 0: no limit

	Budget       Budget // of all turns
	ActorBudget  Budget // of the actor's
	CriticBudget Budget // of the critic's
	// RoleBudgets are for the other roles of a strategy.
	RoleBudgets map[loop.Role]Budget

	// Inspectors inspect the work, all of them, in this order. The first one whose rule
	// is broken names the ruling.
	Inspectors []Named
	// Rulers apply to the critic's verdict one after the other, until one of them ends
	// the run.
	Rulers []Ruler
	// Revise sends work that breaks a rule back to the actor, up to maxTries, instead
	// of ending the run.
	Revise bool
}

var _ loop.Gate = Gate{}

// A Named is an inspector with the name of its rule in the policy and in stop reasons.
type Named struct {
	Name string
	Inspector
}

// An Inspector is a rule on the actor's work. It keeps no state.
type Inspector interface {
	// Inspect inspects the work before a critic does, and may add to what was found. It
	// returns nil if the work follows the rule.
	Inspect(c loop.Case, found *loop.Inspection) *Breach
}

// A Ruler is a rule on a critic's verdict. It keeps no state.
type Ruler interface {
	// Rule returns the ruling after this rule; so is the ruling before it. A rule that
	// changes the decision adds its name, which is that in the policy and in stop reasons.
	Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling
}

// Inspect runs every inspector. A broken rule ends the run or sends the work back.
func (g Gate) Inspect(c loop.Case) (found loop.Inspection, ruling *loop.Ruling) {
	var broken []Breach
	for _, i := range g.Inspectors {
		if b := i.Inspect(c, &found); b != nil {
			b.rule = i.Name
			b.Back = b.Back || g.Revise
			broken = append(broken, *b)
		}
	}
	return found, answer(c, broken)
}

// Rule applies every ruler to the verdict. A review without a verdict is an ERROR unless a
// rule decides otherwise.
func (g Gate) Rule(c loop.Case, r loop.Review) loop.Ruling {
	so, _ := g.rule(c, r)
	return so
}

// Ends implements [loop.Gate].
func (g Gate) Ends(c loop.Case, r loop.Review) (done bool, unmentioned []string) {
	so, unmentioned := g.rule(c, r)
	return so.Verdict.Decision == loop.Done, unmentioned
}

func (g Gate) rule(c loop.Case, r loop.Review) (so loop.Ruling, unmentioned []string) {
	so = said(r)
	for _, ruler := range g.Rulers {
		if f, ok := ruler.(Findings); ok {
			unmentioned = f.unmentioned(c, r, so)
		}
		if so = ruler.Rule(c, r, so); so.Stop != loop.StopNone {
			break
		}
	}
	return so, unmentioned
}

// said returns the ruling before any rule.
func said(r loop.Review) loop.Ruling {
	so := loop.Ruling{Verdict: r.Verdict}
	if r.Problem != "" {
		so.Verdict = loop.Verdict{Decision: loop.Error, Analysis: "The review gave no verdict: " + r.Problem}
	}
	return so
}

package loop

import "slices"

// ProfileStrict is the profile of a run that takes nothing on trust.
const ProfileStrict = "strict"

// A Policy holds the settings of the rules that decide how a run ends, so that a log can be
// replayed to the same end. The zero value is a run without rules.
//
// It is the same struct in a file, in the gate and in a log: beside the name in the log, a field has the tags of
// its key in the table [policy], which package config reads. The others come from keys of other tables.
type Policy struct {
	Profile           string   `key:"-" json:"profile,omitzero"`            // the profile that the settings started from; "" is the default
	ApprovalThreshold *float64 `key:"-" json:"approval_threshold,omitzero"` // the score that approves, 0 to 1; nil: scores decide nothing
	RequireChange     bool     `key:"-" json:"require_change,omitzero"`     // DONE needs a change
	// OpenFindings says what happens to a DONE that ignores open findings: "ask", "refuse", or ""
	// for nothing (logs older than the rule).
	OpenFindings string `json:"open_findings,omitzero" key:"open_findings" is:"ask|refuse" default:"ask" looser:"less" help:"what happens to a DONE that does not mention all open findings" more:"\"ask\": the critic is asked again, once, and its second DONE counts. \"refuse\": no such DONE counts."`
	// LateFindings says how often late findings alone may prolong a run: "once", "never", or "" for
	// any number of times (logs older than the rule).
	LateFindings string `key:"-" json:"late_findings,omitzero"`
	NoAutoRevise bool   `key:"-" json:"no_auto_revise,omitzero"` // the actor is not sent back to work
	// OnViolation "revise" sends work that breaks a rule back to the actor; "" ends the run.
	OnViolation string `json:"on_violation,omitzero" key:"on_violation" is:"stop|revise" default:"stop" looser:"more" help:"what happens to work that breaks a rule: \"stop\" ends the run, \"revise\" sends the work back, at most three times in a row"`
	// CriticDecisions are the decisions that a critic may make; empty: any.
	CriticDecisions []string `json:"critic_decisions,omitempty" key:"critic_decisions" is:"decision" default:"done,continue,error,escalate" looser:"differs" help:"the decisions that a critic may make; it is asked again if it makes another one"`
	// Critique holds the limits of a structured reply; nil: replies are free text.
	Critique *CritiquePolicy `key:"-" json:"critique,omitzero"`
	// Convergence says when a loop that makes no progress is warned and ended; nil: never.
	Convergence *ConvergencePolicy `key:"-" json:"convergence,omitzero"`
	// Panel has several critics judge instead of one; nil: one critic.
	Panel *PanelPolicy `key:"-" json:"panel,omitzero"`
}

// Threshold is the score that approves; 0: scores decide nothing.
func (p Policy) Threshold() float64 {
	if p.ApprovalThreshold == nil {
		return 0
	}
	return *p.ApprovalThreshold
}

// Allows reports whether a critic may make a decision, as a policy spells it.
func (p Policy) Allows(decision string) bool {
	return len(p.CriticDecisions) == 0 || slices.Contains(p.CriticDecisions, decision)
}

// A ConvergencePolicy says how often the same sign of no progress may appear. docs/limits.md describes the
// signs.
type ConvergencePolicy struct {
	WarnAfter  int      `json:"warn_after,omitzero" key:"warn_after" is:"times" default:"2" help:"warn both agents when one sign of a loop without progress has occurred this many times; 0 is never" more:"Signs are turns that change nothing, a state that the work tree had before, the same failing checks, a finding that stays open."`
	StopAfter  int      `json:"stop_after,omitzero" key:"stop_after" is:"times" default:"4" help:"end the run as stuck when one such sign, after a warning, has occurred this many times; 0 is never"`
	Similarity *float64 `key:"-" json:"similarity,omitzero"` // of two texts that counted as equal; only in older logs
}

// A CritiquePolicy limits a critic's structured reply.
type CritiquePolicy struct {
	RiskTypes          []string `json:"risk_types,omitempty" key:"risk_types" is:"text" default:"missing_requirement,correctness,security,data_loss,compatibility,performance,untested,overconfidence,missing_uncertainty,contradiction,scope_leak,policy_violation,legal_risk" looser:"differs" help:"the types of risks that a critic may name"`
	HighRiskTypes      []string `json:"high_risk_types,omitempty" key:"high_risk_types" is:"text" default:"policy_violation,legal_risk" looser:"lacks" help:"the types of risks that it must escalate to a person, as whatever has a high severity"`
	MaxRisks           int      `json:"max_risks,omitzero" key:"max_risks" default:"5" looser:"limit" help:"the most risks in one reply; 0 is no limit"`
	MaxRequiredChanges int      `json:"max_required_changes,omitzero" key:"max_required_changes" default:"5" looser:"limit" help:"the most required changes in one reply; 0 is no limit"`
}

package config

// A Policy holds the rules for verdicts and changes: the table [policy]. docs/policy.md
// describes each rule.
type Policy struct {
	OnViolation  string `key:"on_violation"` // "stop" or "revise"
	AutoRevise   bool   `key:"auto_revise"`
	OpenFindings string `key:"open_findings"`             // "ask" or "refuse"
	Fallback     string `key:"required_changes_fallback"` // "off" or "apply"
	Replies
	Bounds
}

// Replies are what a critic may reply.
type Replies struct {
	CriticDecisions []string `key:"critic_decisions"` // of [Decisions]
	Critique        string   `key:"critique"`         // "free" or "structured"
	RiskTypes       []string `key:"risk_types"`
	HighRiskTypes   []string `key:"high_risk_types"`
	MaxRisks        int      `key:"max_risks"`            // 0: no limit
	MaxChanges      int      `key:"max_required_changes"` // 0: no limit
}

// Bounds limit what an actor may change. A number of 0 is no limit.
type Bounds struct {
	AllowPaths        []string `key:"allow_paths"` // globs; none: every path
	DenyPaths         []string `key:"deny_paths"`  // globs
	DenyPhrases       []string `key:"deny_phrases"`
	MaxFiles          int      `key:"max_files"`
	MaxLines          int      `key:"max_lines"`
	MaxBytes          Size     `key:"max_bytes"`
	MaxGrowth         float64  `key:"max_growth"`     // percent
	MinSimilarity     float64  `key:"min_similarity"` // 0 to 1
	NoNewDependencies bool     `key:"no_new_dependencies"`
	Tamper            string   `key:"tamper"` // "off", "report" or "block"
}

// Decisions lists the decisions that a critic may make.
func Decisions() []string { return []string{"done", "continue", "error", "escalate"} }

// verdicts are the top-level keys for verdicts.
func verdicts() schema {
	return schema{
		{key: "profile", value: choice("default", "strict"), byDefault: "default", flag: "--profile", guarded: true, loosens: lower("default", "strict")},
		{key: "approval_threshold", value: fraction(), byDefault: 0.0, flag: "--approval-threshold", guarded: true, loosens: lessOf},
		{key: "require_change", value: toggle, byDefault: false, flag: "--require-change", guarded: true, loosens: lower(false, true)},
	}
}

func policy() schema {
	s := schema{
		{key: "policy.on_violation", value: choice("stop", "revise"), byDefault: "stop", loosens: lower("revise", "stop")},
		{key: "policy.auto_revise", value: toggle, byDefault: true, loosens: lower(true, false)},
		{key: "policy.open_findings", value: choice("ask", "refuse"), byDefault: "ask", loosens: lower("ask", "refuse")},
		{key: "policy.critic_decisions", value: list(oneOf(Decisions()...)), byDefault: Decisions(), loosens: differs},
		{key: "policy.critique", value: choice("free", "structured"), byDefault: "free", loosens: lower("free", "structured")},
		{key: "policy.risk_types", value: list(notBlank), byDefault: []string{
			"missing_requirement", "correctness", "security", "data_loss", "compatibility",
			"performance", "untested", "overconfidence", "missing_uncertainty",
			"contradiction", "scope_leak", "policy_violation", "legal_risk",
		}, loosens: differs},
		{key: "policy.high_risk_types", value: list(notBlank), byDefault: []string{"policy_violation", "legal_risk"}, loosens: lacks},
		{key: "policy.max_risks", value: count(0), byDefault: 5, loosens: moreThanLimit},
		{key: "policy.max_required_changes", value: count(0), byDefault: 5, loosens: moreThanLimit},
		{key: "policy.required_changes_fallback", value: choice("off", "apply"), byDefault: "off", loosens: lower("apply", "off")},
	}
	return append(s, limits()...).guard()
}

// profile returns what a profile sets. This layer comes right above the defaults.
func profile(name string) layer {
	l := layer{values: values{}}
	if name == "strict" {
		origin := Origin{Layer: Default, Name: "profile strict"}
		l.values["approval_threshold"] = value{0.9, origin}
		l.values["policy.open_findings"] = value{"refuse", origin}
	}
	return l
}

// profileOf returns the effective profile of the layers, lowest first.
func profileOf(layers []layer) (name string) {
	for _, l := range layers {
		if v, ok := l.values["profile"]; ok {
			name, _ = v.is.(string) // its kind is choice
		}
	}
	return name
}

// checkRevision reports on_violation = "revise" where nothing may be revised.
func (c *Config) checkRevision() Errors {
	if c.Policy.AutoRevise || c.Policy.OnViolation != "revise" {
		return nil
	}
	return c.contradiction("policy.on_violation", `is "revise", but policy.auto_revise lets nothing be revised`,
		`set policy.on_violation = "stop", or policy.auto_revise = true`)
}

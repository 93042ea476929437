package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Policy is what a critic's verdict and the actor's work are worth: the table
// [policy]. docs/policy.md tells of each rule.
type Policy struct {
	OnViolation     string   `mapstructure:"on_violation"` // "stop" or "revise"
	AutoRevise      bool     `mapstructure:"auto_revise"`
	OpenFindings    string   `mapstructure:"open_findings"`    // "ask" or "refuse"
	CriticDecisions []string `mapstructure:"critic_decisions"` // of [Decisions]
	Critique        string   `mapstructure:"critique"`         // "free" or "structured"
	RiskTypes       []string `mapstructure:"risk_types"`
	HighRiskTypes   []string `mapstructure:"high_risk_types"`
	MaxRisks        int      `mapstructure:"max_risks"`                 // 0: no limit
	MaxChanges      int      `mapstructure:"max_required_changes"`      // 0: no limit
	Fallback        string   `mapstructure:"required_changes_fallback"` // "off" or "apply"

	AllowPaths        []string `mapstructure:"allow_paths"` // globs; none: every path
	DenyPaths         []string `mapstructure:"deny_paths"`  // globs
	DenyPhrases       []string `mapstructure:"deny_phrases"`
	MaxFiles          int      `mapstructure:"max_files"` // 0: no limit, as for all of these
	MaxLines          int      `mapstructure:"max_lines"`
	MaxBytes          Size     `mapstructure:"max_bytes"`
	MaxGrowth         float64  `mapstructure:"max_growth"`     // percent
	MinSimilarity     float64  `mapstructure:"min_similarity"` // 0 to 1
	NoNewDependencies bool     `mapstructure:"no_new_dependencies"`
	Tamper            string   `mapstructure:"tamper"` // "off", "report" or "block"
}

// Decisions are the words that a critic may decide with.
func Decisions() []string { return []string{"done", "continue", "error", "escalate"} }

// verdicts are the keys on verdicts, which stand at the top level.
func verdicts() schema {
	return schema{
		{
			key: "profile", value: choice("default", "strict"), byDefault: "default", flag: "--profile", guarded: true,
			doc: "What the keys begin with: \"default\" is this file, \"strict\" differs from it as\ndocs/policy.md tells. A key that is set wins. In a project file it needs trust.",
		}, {
			key: "approval_threshold", value: fraction, byDefault: 0.0, flag: "--approval-threshold", guarded: true,
			doc: "The critic's score, from 0 to 1, that approves the work; a lower one sends it\nback, whatever the critic decides. 0.0 is none: scores decide nothing. In a\nproject file it needs trust.",
		}, {
			key: "require_change", value: toggle, byDefault: false, flag: "--require-change", guarded: true,
			doc: "Whether a run is done only when something has changed since it began. In a\nproject file it needs trust.",
		},
	}
}

func policy() schema {
	s := schema{
		{
			key: "policy.on_violation", value: choice("stop", "revise"), byDefault: "stop",
			doc: "What becomes of work that breaks a rule: \"stop\" ends the run, \"revise\" sends\nthe work back to the actor, at most three times in a row. All of this table\nneeds trust in a project file.",
		}, {
			key: "policy.auto_revise", value: boolean, byDefault: true,
			doc: "Whether the actor is sent to work again; false carries out nothing but DONE and\nan escalation.",
		}, {
			key: "policy.open_findings", value: choice("ask", "refuse"), byDefault: "ask",
			doc: "What becomes of a DONE that says nothing of open findings: \"ask\" asks the\ncritic again, once, and takes its second DONE, \"refuse\" does not.",
		}, {
			key: "policy.critic_decisions", value: list(decision), byDefault: Decisions(),
			doc: "What a critic may decide; it is asked again when it says anything else.",
		}, {
			key: "policy.critique", value: choice("free", "structured"), byDefault: "free",
			doc: "\"structured\" takes no other reply than a JSON object with severity, risks and\nchanges that codeloops can check by itself. The keys below count only then.",
		}, {
			key: "policy.risk_types", value: list(notBlank), byDefault: []string{
				"missing_requirement", "correctness", "security", "data_loss", "compatibility",
				"performance", "untested", "overconfidence", "missing_uncertainty",
				"contradiction", "scope_leak", "policy_violation", "legal_risk",
			},
			doc: "The types of risks that a critic may name.",
		}, {
			key: "policy.high_risk_types", value: list(notBlank), byDefault: []string{"policy_violation", "legal_risk"},
			doc: "Those that it must hand to a person, as it must what has the severity high.",
		}, {
			key: "policy.max_risks", value: count(0), byDefault: 5,
			doc: "The most risks in one reply; 0 is no limit.",
		}, {
			key: "policy.max_required_changes", value: count(0), byDefault: 5,
			doc: "The most required changes in one reply; 0 is no limit.",
		}, {
			key: "policy.required_changes_fallback", value: choice("off", "apply"), byDefault: "off",
			doc: "\"apply\" makes the required changes in the one text file that was changed, when\nthe actor has failed three times to make them; \"off\" ends the run.",
		},
	}
	s = append(s, limits()...)
	for i := range s {
		s[i].guarded = true
	}
	return s
}

// profile returns what a profile sets, as a layer right above the defaults.
func profile(name string) layer {
	l := layer{values: values{}}
	if name == "strict" {
		origin := Origin{Layer: Default, Name: "profile strict"}
		l.values["approval_threshold"] = value{0.9, origin}
		l.values["policy.open_findings"] = value{"refuse", origin}
	}
	return l
}

// profileOf returns the profile that the layers come to, lowest first.
func profileOf(layers []layer) (name string) {
	for _, l := range layers {
		if v, ok := l.values["profile"]; ok {
			name, _ = v.is.(string) // its kind is a choice
		}
	}
	return name
}

// lacksRevision reports rules that contradict each other.
func (c *Config) lacksRevision() Errors {
	if c.Policy.AutoRevise || c.Policy.OnViolation != "revise" {
		return nil
	}
	const key = "policy.on_violation"
	origin := c.Origin(key)
	return Errors{{
		File: origin.File, Line: origin.Line, Key: key,
		Problem: key + ` is "revise", but policy.auto_revise lets nothing be revised`,
		Hint:    `set policy.on_violation = "stop", or policy.auto_revise = true`,
	}}
}

// decision refuses what no critic can decide.
func decision(s string) *fault {
	if slices.Contains(Decisions(), s) {
		return nil
	}
	_, f := choice(Decisions()...)(s)
	return f
}

// boolean reads true or false.
func boolean(raw any) (any, *fault) {
	switch v := raw.(type) {
	case bool:
		return v, nil
	case word:
		if is, err := strconv.ParseBool(string(v)); err == nil {
			return is, nil
		}
		return nil, &fault{problem: fmt.Sprintf("must be true or false, not %q", short(string(v)))}
	}
	return nil, &fault{problem: "must be true or false, not " + typeName(raw)}
}

// fraction reads a number from 0 to 1.
func fraction(raw any) (any, *fault) {
	var n float64
	switch v := raw.(type) {
	case float64:
		n = v
	case int64:
		n = float64(v)
	default:
		s, ok := asText(raw)
		if !ok {
			return nil, &fault{problem: "must be a number from 0 to 1, not " + typeName(raw)}
		}
		parsed, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, &fault{problem: fmt.Sprintf("must be a number from 0 to 1, not %q", short(s)), hint: "write it like 0.9"}
		}
		n = parsed
	}
	if math.IsNaN(n) || n < 0 || n > 1 {
		return nil, &fault{problem: fmt.Sprintf("must be a number from 0 to 1, but is %v", n), hint: "write it like 0.9"}
	}
	return n, nil
}

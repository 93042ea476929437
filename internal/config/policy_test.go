package config

import (
	"errors"
	"testing"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		global, project string
		env             []string
		want            float64
		origin          string
	}{
		"none":             {"", "", nil, 0, "default"},
		"strict":           {`profile = "strict"`, "", nil, 0.9, "profile strict"},
		"a key wins":       {"profile = \"strict\"\napproval_threshold = 0.5", "", nil, 0.5, ""},
		"a lower one does": {"approval_threshold = 0.5", `profile = "strict"`, nil, 0.5, ""},
		"taken back":       {`profile = "strict"`, `profile = "default"`, nil, 0, "default"},
		"by variable":      {"", "", []string{"CODELOOPS_PROFILE=strict"}, 0.9, "profile strict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.global(test.global)
			p.project(test.project)
			o := p.options(test.env...)
			o.TrustProject = true
			c := mustLoad(t, o)
			got := entry(t, c, "approval_threshold")
			if c.ApprovalThreshold != test.want || test.origin != "" && got.Origin.String() != test.origin {
				t.Errorf("got %v from %v, want %v from %s", c.ApprovalThreshold, got.Origin, test.want, test.origin)
			}
		})
	}
}

func TestPolicyValues(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"[convergence]\nwarn_after = 1":                            "convergence.warn_after must be at least 2, or 0 for never, but is 1",
		"[convergence]\nstop_after = -1":                           "convergence.stop_after must not be negative, but is -1",
		"[convergence]\nwarn_after = 3\nstop_after = 3":            "convergence.stop_after is 3, but the agents are warned after 3 only",
		"[policy]\ntamper = \"warn\"":                              "policy.tamper must be \"off\", \"report\" or \"block\", not \"warn\"",
		"[policy]\nallow_paths = [\"a\", \"/etc/**\"]":             `policy.allow_paths has a bad item 2: it must be a path within the repository, not "/etc/**"`,
		"[policy]\ndeny_paths = [\"a/../../b\"]":                   `policy.deny_paths must be a path within the repository, not "a/../../b"`,
		"[policy]\ndeny_paths = [\"!a\"]":                          `policy.deny_paths cannot be negated with "!", as in "!a"`,
		"[policy]\ndeny_paths = [\"a[\"]":                          `policy.deny_paths must be a glob, not "a["`,
		"[policy]\ndeny_phrases = [\"a\", \" \"]":                  `policy.deny_phrases has a bad item 2: it must not be empty`,
		"[policy]\nno_new_dependencies = 1":                        "policy.no_new_dependencies must be true or false, not a number",
		"approval_threshold = 1.5":                                 "approval_threshold must be at most 1, but is 1.5",
		"approval_threshold = \"high\"":                            `approval_threshold must be a number from 0 to 1, not "high"`,
		"approval_threshold = nan":                                 `approval_threshold must be a number from 0 to 1, not "NaN"`,
		"approval_threshold = true":                                "approval_threshold must be a number from 0 to 1, not a boolean",
		"profile = \"strickt\"":                                    `profile must be "default" or "strict", not "strickt"`,
		"[policy]\nauto_revise = \"no\"":                           "policy.auto_revise must be true or false, not a string",
		"[policy]\ncritic_decisions = [\"approve\"]":               `policy.critic_decisions must be "done", "continue", "error" or "escalate", not "approve"`,
		"[policy]\non_violation = \"revise\"\nauto_revise = false": `policy.on_violation is "revise", but policy.auto_revise lets nothing be revised`,
	} {
		t.Run(content, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.global(content)
			_, err := Load(p.options())
			got, ok := errors.AsType[*Error](err)
			if !ok || got.Problem != want || got.Line == 0 {
				t.Errorf("got %v", err)
			}
		})
	}
	for value, want := range map[string]bool{"false": false, "1": true} {
		p := newPlace(t)
		if c := mustLoad(t, p.options("CODELOOPS_POLICY_AUTO_REVISE="+value)); c.Policy.AutoRevise != want {
			t.Errorf("%s reads as %t", value, c.Policy.AutoRevise)
		}
	}
	p := newPlace(t)
	if _, err := Load(p.options("CODELOOPS_POLICY_AUTO_REVISE=no thanks")); err == nil {
		t.Error("an invalid boolean was accepted")
	}
}

// TestSharedSeats: a table for all debaters counts for each that has no setting of its own.
func TestSharedSeats(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.global(`[strategy]
debaters = 3
[strategy.roles.debater]
agent = "codex"
model = "large"
instructions = "Be short."
[strategy.roles.debater_2]
agent = "gemini"
[strategy.roles.debater_3]
instructions = "Be long."
`)
	c := mustLoad(t, p.options())
	for name, want := range map[string][3]string{"debater_1": {"codex", "large", "Be short."}, "debater_2": {"gemini", "", "Be short."}, "debater_3": {"codex", "large", "Be long."}} {
		r := c.Strategy.Role(name, Role{})
		if got := [3]string{r.Agent, r.Model, c.Strategy.Roles[name].Instructions}; got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
	if _, there := c.Strategy.Roles["debater"]; there || len(c.Strategy.Roles) != 3 {
		t.Errorf("the roles are %v", c.Strategy.Roles)
	}
	if got := entry(t, c, "strategy.roles.debater_1.instructions"); got.Origin.Line != 6 {
		t.Errorf("debater_1's instructions are from line %d", got.Origin.Line)
	}
}

package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// free returns the keys that are not rules: who plays, how long a turn may take, what is
// shown and where, what is called, how lessons are found. A resumed run uses their current values; a
// strategy is stored in the session.
func free() []string {
	return []string{
		"agent", "model", "agent_order", "fallback", "max_iterations", "max_wait", "max_consecutive_errors", "critic_retries", "actor_session", "max_output",
		"log_output", "check_before", "fail_fast", "confirm", "log_format", "ci", "notify", "title", "session_dir", "keep", "keep_for", "refine_template",
		"convergence.warn_after", "convergence.stop_after",
		"actor.instructions", "actor.template", "actor.agent", "actor.model", "actor.fallback", "actor.timeout", "actor.idle_timeout", "actor.price_input", "actor.price_output",
		"critic.agent", "critic.model", "critic.fallback", "critic.timeout", "critic.idle_timeout", "critic.price_input", "critic.price_output",
	}
}

// TestEveryKeyIsARuleOrFree: for every key it is stated whether it is a rule, which a
// resumed run must not loosen.
func TestEveryKeyIsARuleOrFree(t *testing.T) {
	t.Parallel()
	for _, s := range schema() {
		if isFree := slices.Contains(free(), s.Name) || strings.HasPrefix(s.Name, "strategy.") || strings.HasPrefix(s.Name, "lessons.") || strings.HasPrefix(s.Name, "hooks.") || s.own; !s.named() && (s.looser != "") == isFree {
			t.Errorf("%s: either the schema must make it a rule, or free, above, must list it", s.Name)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	if got, want := mustLoad(t, Options{}).Rules(), []loop.Rule{{Key: "profile", Values: []string{"default"}, Origin: "default"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("by default: %+v", got)
	}
	p := newPlace(t)
	file := p.project(`profile = "strict"
checks = ["sh check.sh", "make"]
max_cost = 2.5
critique_template = "{prompt} {diff}"
[policy]
deny_paths = ["*.md"]
max_bytes = "2KiB"
[critic]
agent = "judge"
[agents.judge]
command = ["judge"]
critic_command = ["tools/judge.sh"]
env = { JUDGE_TOKEN = "hidden" }
[agents.other]
command = ["other"]
`)
	o := p.options()
	o.TrustProject = true
	o.Flags = map[string][]string{"check_timeout": {"90s"}}
	got := mustLoad(t, o).Rules()
	want := []loop.Rule{
		{Key: "max_cost", Values: []string{"2.5"}, Origin: file + ":3"},
		{Key: "checks", Values: []string{"sh check.sh", "make"}, Origin: file + ":2"},
		{Key: "check_timeout", Values: []string{"1m30s"}, Origin: "--check-timeout"},
		{Key: "profile", Values: []string{"strict"}, Origin: file + ":1"},
		{Key: "approval_threshold", Values: []string{"0.9"}, Origin: "profile strict"},
		{Key: "critique_template", Values: []string{"sha256:fe7e8d10f0cc6e5fd9f94e6e0c4e9f1d8c2a2bb4f2e8c8c6c3d5e2e4a4c2f8ab"}, Origin: file + ":4"},
		{Key: "policy.open_findings", Values: []string{"refuse"}, Origin: "profile strict"},
		{Key: "policy.deny_paths", Values: []string{"*.md"}, Origin: file + ":6"},
		{Key: "policy.max_bytes", Values: []string{"2KiB"}, Origin: file + ":7"},
		{Key: "agents.judge.command", Values: []string{"judge"}, Origin: file + ":11"},
		{Key: "agents.judge.critic_command", Values: []string{"tools/judge.sh"}, Origin: file + ":12"},
		{Key: "trust", Values: []string{"a digest"}, Origin: file},
	}
	for i, r := range got {
		if r.Key == "critique_template" || r.Key == TrustRule {
			if hex := strings.TrimPrefix(r.Values[0], "sha256:"); len(hex) != 64 {
				t.Errorf("%s is %q", r.Key, r.Values)
			}
			got[i].Values = want[i].Values
		}
		if strings.HasPrefix(r.Key, "agents.") {
			got[i].Origin = want[i].Origin
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if loose := Loosened(got, got); loose != nil {
		t.Errorf("against themselves: %v", loose)
	}
}

func TestLoosened(t *testing.T) {
	t.Parallel()
	rule := func(key string, values ...string) loop.Rule {
		return loop.Rule{Key: key, Values: values, Origin: "file:1"}
	}
	for name, c := range map[string]struct {
		was, now loop.Rule // zero if there is no rule
		want     string
	}{
		"checks gone":            {rule("checks", "make", "sh check.sh"), loop.Rule{}, `checks = ["make", "sh check.sh"] (file:1) is [] now`},
		"one check gone":         {rule("checks", "make", "sh check.sh"), rule("checks", "make"), `checks = ["make", "sh check.sh"] (file:1) is ["make"] now`},
		"another check":          {rule("checks", "sh check.sh"), rule("checks", "true"), `checks = ["sh check.sh"] (file:1) is ["true"] now`},
		"one check more":         {rule("checks", "make"), rule("checks", "sh check.sh", "make"), ""},
		"a longer check":         {loop.Rule{}, rule("check_timeout", "20m"), `check_timeout = "10m" (default) is "20m" now`},
		"a shorter check":        {rule("check_timeout", "10m"), rule("check_timeout", "5m"), ""},
		"no limit of a check":    {rule("check_timeout", "10m"), rule("check_timeout", "0s"), `check_timeout = "10m" (file:1) is "0s" now`},
		"a threshold gone":       {rule("approval_threshold", "0.9"), loop.Rule{}, `approval_threshold = 0.9 (file:1) is 0.0 now`},
		"a lower threshold":      {rule("approval_threshold", "0.9"), rule("approval_threshold", "0.5"), `approval_threshold = 0.9 (file:1) is 0.5 now`},
		"a higher threshold":     {rule("approval_threshold", "0.5"), rule("approval_threshold", "0.9"), ""},
		"not strict any more":    {rule("profile", "strict"), rule("profile", "default"), `profile = "strict" (file:1) is "default" now`},
		"findings passed over":   {rule("policy.open_findings", "refuse"), loop.Rule{}, `policy.open_findings = "refuse" (file:1) is "ask" now`},
		"no change needed":       {rule("require_change", "true"), loop.Rule{}, `require_change = true (file:1) is false now`},
		"strict from now on":     {rule("profile", "default"), rule("profile", "strict"), ""},
		"a denied path allowed":  {rule("policy.deny_paths", "a", "b"), rule("policy.deny_paths", "b"), `policy.deny_paths = ["a", "b"] (file:1) is ["b"] now`},
		"more paths":             {rule("policy.allow_paths", "src/**"), rule("policy.allow_paths", "src/**", "x"), `policy.allow_paths = ["src/**"] (file:1) is ["src/**", "x"] now`},
		"all paths":              {rule("policy.allow_paths", "src/**"), loop.Rule{}, `policy.allow_paths = ["src/**"] (file:1) is [] now`},
		"fewer paths":            {rule("policy.allow_paths", "src/**", "x"), rule("policy.allow_paths", "x"), ""},
		"some paths":             {loop.Rule{}, rule("policy.allow_paths", "x"), ""},
		"tamper unseen":          {loop.Rule{}, rule("policy.tamper", "off"), `policy.tamper = "report" (default) is "off" now`},
		"tamper no longer stops": {rule("policy.tamper", "block"), loop.Rule{}, `policy.tamper = "block" (file:1) is "report" now`},
		"tamper stops":           {loop.Rule{}, rule("policy.tamper", "block"), ""},
		"sent back":              {rule("policy.on_violation", "stop"), rule("policy.on_violation", "revise"), `policy.on_violation = "stop" (file:1) is "revise" now`},
		"free again":             {rule("policy.critique", "structured"), loop.Rule{}, `policy.critique = "structured" (file:1) is "free" now`},
		"no limit of files":      {rule("policy.max_files", "3"), loop.Rule{}, `policy.max_files = 3 (file:1) is 0 now`},
		"more bytes":             {rule("policy.max_bytes", "1KiB"), rule("policy.max_bytes", "1MiB"), `policy.max_bytes = "1KiB" (file:1) is "1MiB" now`},
		"fewer bytes":            {rule("policy.max_bytes", "1MiB"), rule("policy.max_bytes", "1KiB"), ""},
		"dependencies":           {rule("policy.no_new_dependencies", "true"), loop.Rule{}, `policy.no_new_dependencies = true (file:1) is false now`},
		"no view any more":       {rule("critic_view", "overlay"), rule("critic_view", "tree"), `critic_view = "overlay" (file:1) is "tree" now`},
		"no view":                {loop.Rule{}, rule("critic_view", "tree"), `critic_view = "auto" (default) is "tree" now`},
		"a view":                 {rule("critic_view", "tree"), loop.Rule{}, ""},
		"another view":           {rule("critic_view", "overlay"), rule("critic_view", "copy"), ""},
		"still no view":          {rule("critic_view", "tree"), rule("critic_view", "tree"), ""},
		"a critic that writes":   {rule("critic_access", "read-only"), loop.Rule{}, `critic_access = "read-only" (file:1) is "full" now`},
		"one that only reads":    {loop.Rule{}, rule("critic_access", "read-only"), ""},
		"secrets":                {rule("critic_env", "clean"), loop.Rule{}, `critic_env = "clean" (file:1) is "full" now`},
		"one secret more":        {rule("env_pass", "A_KEY"), rule("env_pass", "A_KEY", "B_KEY"), `env_pass = ["A_KEY"] (file:1) is ["A_KEY", "B_KEY"] now`},
		"a dearer run":           {rule("max_cost", "1"), rule("max_cost", "2"), `max_cost = 1.0 (file:1) is 2.0 now`},
		"a role's instructions":  {rule("strategy.roles.evaluator.instructions", "a"), rule("strategy.roles.evaluator.instructions", "b"), `strategy.roles.evaluator.instructions = "a" (file:1) is "b" now`},
		"a role's template":      {rule("strategy.roles.evaluator.template", "sha256:1"), rule("strategy.roles.evaluator.template", "sha256:2"), `strategy.roles.evaluator.template = "sha256:1" (file:1) is "sha256:2" now`},
		"words of another":       {rule("critique_template", "sha256:1"), rule("critique_template", "sha256:2"), `critique_template = "sha256:1" (file:1) is "sha256:2" now`},
		"fewer decisions":        {loop.Rule{}, rule("policy.critic_decisions", "done", "continue"), `policy.critic_decisions = ["done", "continue", "error", "escalate"] (default) is ["done", "continue"] now`},
		"another judge":          {rule("agents.judge.command", "judge"), rule("agents.judge.command", "true"), `agents.judge.command = ["judge"] (file:1) is ["true"] now`},
		"a judge gone":           {rule("agents.judge.command", "judge"), loop.Rule{}, `agents.judge.command = ["judge"] (file:1) is gone now`},
		"a judge set up anew":    {loop.Rule{}, rule("agents.judge.critic_command", "true"), `agents.judge.critic_command = none (file:1) is ["true"] now`},
		"of another version":     {rule("not_yet", "1"), loop.Rule{}, `not_yet = ["1"] (file:1) is gone now`},
		"newly trusted":          {loop.Rule{}, rule(TrustRule, "1"), "file:1 was not trusted as it is now"},
		"trusted anew":           {rule(TrustRule, "1"), rule(TrustRule, "2"), "file:1 was not trusted as it is now"},
		"still trusted":          {rule(TrustRule, "1"), rule(TrustRule, "1"), ""},
		"no longer there":        {rule(TrustRule, "1"), loop.Rule{}, ""},
		"nothing that is read":   {rule("max_cost", "much"), rule("max_cost", "more"), `max_cost = ["much"] (file:1) is ["more"] now`},
	} {
		list := func(r loop.Rule) (l []loop.Rule) {
			if r.Key != "" {
				l = append(l, r)
			}
			return l
		}
		var got []string
		for _, l := range Loosened(list(c.was), list(c.now)) {
			got = append(got, l.String())
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q\nwant %s", name, got, c.want)
		}
	}
}

// TestAddress: a URL with a password is rejected, and the error does not quote it.
func TestAddress(t *testing.T) {
	t.Parallel()
	for s, ok := range map[string]bool{
		"postgres://team@db/lessons": true, "postgres:///x?host=/run/pg": true, "postgres://db": true,
		"postgres://team:swordfish@db/x": false, "postgres://team@db/x?password=swordfish": false,
		"postgres://": false, "mysql://team@db/x": false, "postgres://swordfish%zz@db": false, "user": false,
	} {
		err := Address("postgres", s)
		if (err == nil) != ok {
			t.Errorf("%s: %v", s, err)
		}
		if err != nil && strings.Contains(hints(err), "swordfish") {
			t.Errorf("%s is quoted: %v", s, err)
		}
	}
}

package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, Options{})
	role := Role{Agent: "claude", Fallback: []string{}, Timeout: time.Hour, IdleTimeout: 15 * time.Minute}
	want := Config{
		Agent: "claude", Fallback: []string{}, AgentOrder: []string{}, ActorSession: "fresh", Actor: Worker{Role: role},
		Critic:        Judge{Role: role, Members: []string{}, Quorum: "all", Rounds: 1},
		Agents:        map[string]CustomAgent{},
		MaxIterations: 10, MaxWait: 6 * time.Hour, MaxConsecutiveErrors: 3, CriticRetries: 2, MaxOutput: 256 << 20,
		Checks: []string{}, CheckTimeout: 10 * time.Minute,
		CriticView: "auto", CriticAccess: "full", CriticEnv: "full", EnvPass: []string{}, EnvDeny: []string{},
		Profile:   "default",
		LogFormat: "pretty", CI: "auto", Notify: "none", Title: true, LogOutput: 1 << 20, Keep: 20, KeepFor: 30 * 24 * time.Hour,
		Confirm: "short",
		Policy: Policy{
			Policy: loop.Policy{OnViolation: "stop", OpenFindings: "ask", CriticDecisions: []string{"done", "continue", "error", "escalate"}},
			CritiquePolicy: loop.CritiquePolicy{
				MaxRisks: 5, MaxRequiredChanges: 5,
				RiskTypes: []string{
					"missing_requirement", "correctness", "security", "data_loss", "compatibility", "performance", "untested",
					"overconfidence", "missing_uncertainty", "contradiction", "scope_leak", "policy_violation", "legal_risk",
				},
				HighRiskTypes: []string{"policy_violation", "legal_risk"},
			},
			AutoRevise: true, Critique: "free",
			AllowPaths: []string{}, DenyPaths: []string{}, DenyPhrases: []string{}, Tamper: "report", Witness: "off",
			Block: []string{"test_gone", "fewer_assertions", "skip_added", "gate_changed", "expectation_changed"},
		},
		Convergence: loop.ConvergencePolicy{WarnAfter: 2, StopAfter: 4},
		Strategy:    Strategy{Name: "actor-critic", Set: map[string]any{}, Roles: map[string]Member{}},
		Hooks:       Hooks{Timeout: 30 * time.Second},
		Queue:       Queue{Replicas: 1, Merge: "auto"},
	}
	for _, p := range strategy.AllParameters() {
		want.Strategy.Set[p.Key] = p.Default
	}
	if got := settingsOf(c); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, e := range c.Entries() {
		if e.Origin != (Origin{Layer: Default}) {
			t.Errorf("%s comes from %v", e.Key, e.Origin)
		}
	}
}

// settingsOf returns a copy without origins, paths and trust.
func settingsOf(c *Config) Config {
	bare := *c
	bare.provenance, bare.Strategy.set, bare.Strategy.Roles = provenance{}, nil, map[string]Member{}
	return bare
}

// Every default can be read, every key says what it does, and no two keys or flags have one name.
func TestKeysAreComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range schema() {
		raw := fileForm(k.Default)
		if n, isInt := raw.(int); isInt {
			raw = int64(n)
		}
		if is, f := k.read(raw); f != nil || !reflect.DeepEqual(is, k.Default) {
			t.Errorf("%s: its default %v reads as %v, %v", k.Name, raw, is, f)
		}
		if seen[k.Name] || k.Flag != "" && seen["--"+k.Flag] || k.Help == "" || k.Topic == "" {
			t.Errorf("%s is declared twice, or without help or topic", k.Name)
		}
		seen[k.Name], seen["--"+k.Flag] = true, true
	}
}

// A source sets a key in one layer.
type source struct {
	layer Layer
	set   func(p place, o *Options, s Key, is any)
}

func sources() []source { // the lowest first
	return []source{
		{Global, func(p place, _ *Options, s Key, is any) { p.global(s.Name + " = " + tomlText(is)) }},
		{Project, func(p place, _ *Options, s Key, is any) { p.project(s.Name + " = " + tomlText(is)) }},
		{Env, func(_ place, o *Options, s Key, is any) {
			if !s.isList() && !s.named() {
				o.Env = append(o.Env, fmt.Sprintf("CODELOOPS_%s=%v", strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_")), is))
			}
		}},
		{Flag, func(_ place, o *Options, s Key, is any) { o.Flags = map[string][]string{s.Name: texts("", is)} }},
	}
}

// chosen returns two valid values for each key that accepts only some values.
func chosen() map[string][2]any {
	return map[string][2]any{
		"confirm":                    {"never", "short"},
		"log_format":                 {"compact", "json"},
		"ci":                         {"github", "none"},
		"notify":                     {"bell", "osc9"},
		"title":                      {false, true},
		"critic_view":                {"copy", "tree"},
		"critic_access":              {"read-only", "full"},
		"critic_env":                 {"full", "clean"},
		"actor_session":              {"fresh", "resume"},
		"profile":                    {"default", "strict"},
		"approval_threshold":         {0.5, 0.75},
		"strategy.name":              {"react", "reflexion"},
		"strategy.base":              {"actor-critic", "react"},
		"strategy.reset":             {false, true},
		"critic.quorum":              {"majority", "2"},
		"strategy.lessons":           {"user", "project"},
		"strategy.lessons_mode":      {"block", "recall"},
		"lessons.embeddings_url":     {"http://localhost:11434/v1", "https://api.example.com/v1"},
		"strategy.convergence_check": {false, true},
		"strategy.decide":            {"majority", "judge"},
		"critique_template":          {"{prompt}{diff}", "{diff}\n{prompt}"},
		"refine_template":            {"{prompt}{critique}", "{issues_bulleted}\n{prompt}"},
		"critic.template":            {"{prompt}{diff}", "{diff}\n{prompt}"},
		"actor.template":             {"{prompt}", "Do it:\n{prompt}"},
		"policy.on_violation":        {"stop", "revise"},
		"policy.tamper":              {"report", "block"},
		"policy.witness":             {"report", "require"},
		"policy.block":               {[]string{"test_gone"}, []string{"test_gone", "skip_added"}},
		"convergence.warn_after":     {0, 3},
		"policy.auto_revise":         {false, true},
		"policy.open_findings":       {"ask", "refuse"},
		"policy.critique":            {"free", "structured"},
		"policy.critic_decisions":    {[]string{"done"}, []string{"done", "continue"}},
		"queue.merge":                {"ask", "never"},
	}
}

// sample returns a value for a key, as in a file, that differs from those of the
// neighbouring layers.
func sample(t *testing.T, s Key, step int) any {
	t.Helper()
	if _, ok := s.Default.(float64); ok && strings.HasPrefix(s.Name, "strategy.") {
		return []any{0.5, 0.75}[step%2]
	}
	if two, ok := chosen()[s.Name]; ok {
		return two[step%2]
	}
	if s.Directory {
		return filepath.Join(filepath.VolumeName(t.TempDir())+string(filepath.Separator), "dir", strconv.Itoa(step))
	}
	switch s.Default.(type) {
	case string:
		return fmt.Sprintf("name-%d", step)
	case int:
		return 100 + step
	case float64:
		return 100.5 + float64(step)
	case bool:
		return step%2 == 0
	case time.Duration:
		return fmt.Sprintf("%dm", 100+step)
	case Size:
		return fmt.Sprintf("%dKB", 100+step)
	case []string:
		return []string{fmt.Sprintf("item-%d", step)}
	}
	t.Fatalf("%s has a type without a sample", s.Name)
	return nil
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	for _, s := range schema() {
		if strings.Contains(s.Name, "*") {
			continue
		}
		for highest := range sources() {
			t.Run(s.Name+"/"+string(sources()[highest].layer), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				o := p.options()
				o.TrustProject = true
				var want any
				var layer Layer
				for step, from := range sources()[:highest+1] {
					if from.layer == Env && (s.isList() || s.named()) || from.layer == Project && s.own {
						continue
					}
					want, layer = sample(t, s, step), from.layer
					from.set(p, &o, s, want)
				}
				got := entry(t, mustLoad(t, o), s.Name)
				if !reflect.DeepEqual(got.Value, want) || got.Origin.Layer != layer {
					t.Errorf("got %v from %v, want %v from %v", got.Value, got.Origin.Layer, want, layer)
				}
			})
		}
	}
}

func entry(t *testing.T, c *Config, key string) Entry {
	t.Helper()
	all := c.Entries()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Key == key })
	if i < 0 {
		t.Fatalf("no entry for %s", key)
	}
	return all[i]
}

// An agent's variable that is set to nothing is listed, like every key that is set.
func TestEmptyTextIsListed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.global("[agents.mine]\ncommand = [\"mine\"]\nenv = { PAGER = \"\" }\n")
	if got := entry(t, mustLoad(t, p.options()), "agents.mine.env.PAGER"); got.Value != "" || got.Origin.Layer != Global {
		t.Errorf("got %+v", got)
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	global := p.global("model = \"m\"\ncritic_retries = 5\n")
	project := p.project("\n\n[actor]\ntimeout = \"5m\"\n")
	o := p.options("CODELOOPS_MAX_OUTPUT=1GB")
	o.Flags = map[string][]string{"critic.timeout": {"5s"}, "max_iterations": {"3"}}
	c := mustLoad(t, o)
	want := map[string]Origin{
		"agent":          {Layer: Default},
		"actor.agent":    {Layer: Default},
		"model":          {Global, global, 1, "model"},
		"actor.model":    {Global, global, 1, "model"},
		"critic_retries": {Global, global, 2, "critic_retries"},
		"actor.timeout":  {Project, project, 4, "actor.timeout"},
		"max_output":     {Layer: Env, Name: "CODELOOPS_MAX_OUTPUT"},
		"critic.timeout": {Layer: Flag, Name: "--critic-timeout"},
		"max_iterations": {Layer: Flag, Name: "--max-iterations"},
		"no.such.key":    {Layer: Default},
	}
	for key, origin := range want {
		if got := c.Origin(key); got != origin {
			t.Errorf("%s comes from %+v, want %+v", key, got, origin)
		}
	}
	asJSON, err := json.Marshal(entry(t, c, "critic.timeout"))
	if got, want := string(asJSON), `{"key":"critic.timeout","value":"5s","origin":{"layer":"flag","name":"--critic-timeout"}}`; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	text := map[string]string{
		"agent": "default", "model": global + ":1", "max_output": "CODELOOPS_MAX_OUTPUT", "critic.timeout": "--critic-timeout",
	}
	for key, said := range text {
		if got := c.Origin(key).String(); got != said {
			t.Errorf("%s comes from %q, want %q", key, got, said)
		}
	}
}

// A role inherits the general agent and model of the highest layer that sets either: the
// layer takes precedence over the key.
func TestRolesInherit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		global, project string
		flags           map[string][]string
		actor, critic   string
	}{
		"nothing":                      {"", "", nil, "claude", "claude"},
		"general":                      {`agent = "a"`, "", nil, "a", "a"},
		"own":                          {`actor.agent = "a"`, "", nil, "a", "claude"},
		"own beats general":            {"agent = \"a\"\nactor.agent = \"b\"", "", nil, "b", "a"},
		"a higher general beats":       {`actor.agent = "b"`, `agent = "a"`, nil, "a", "a"},
		"flag beats a file's own":      {"", `actor.agent = "b"`, map[string][]string{"agent": {"f"}}, "f", "f"},
		"own flag beats general flag":  {"", "", map[string][]string{"agent": {"f"}, "critic.agent": {"g"}}, "f", "g"},
		"empty is none":                {`agent = "a"`, `actor.agent = ""`, nil, "a", "a"},
		"empty beside general is none": {"", "agent = \"a\"\nactor.agent = \"\"", nil, "a", "a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.global(test.global)
			p.project(test.project)
			o := p.options()
			o.Flags = test.flags
			c := mustLoad(t, o)
			if c.Actor.Agent != test.actor || c.Critic.Agent != test.critic {
				t.Errorf("got %q, %q; want %q, %q", c.Actor.Agent, c.Critic.Agent, test.actor, test.critic)
			}
		})
	}
}

// A model is used only with the agent for which it was set.
func TestModelsFollowTheirAgent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		global, project string
		flags           map[string][]string
		actor, critic   string
	}{
		"nothing":                     {"", "", nil, "", ""},
		"general":                     {`model = "m"`, "", nil, "m", "m"},
		"own":                         {"model = \"m\"\ncritic.model = \"n\"", "", nil, "m", "n"},
		"of a general agent":          {"agent = \"a\"\nmodel = \"m\"\ncritic.agent = \"b\"", "", nil, "m", ""},
		"of the same agent":           {"agent = \"a\"\nmodel = \"m\"\ncritic.agent = \"a\"", "", nil, "m", "m"},
		"of an agent replaced above":  {"agent = \"a\"\nmodel = \"m\"", `critic.agent = "b"`, nil, "m", ""},
		"replaced by a flag":          {`model = "m"`, "", map[string][]string{"agent": {"f"}}, "", ""},
		"replaced with its own model": {`model = "m"`, "", map[string][]string{"actor.agent": {"f"}, "actor.model": {"n"}}, "n", "m"},
		"the same agent again":        {`model = "m"`, `agent = "claude"`, nil, "m", "m"},
		"a flag for both, two agents": {"", "", map[string][]string{"actor.agent": {"f"}, "critic.agent": {"g"}, "model": {"n"}}, "n", "n"},
		"written with the agent":      {`agent = "a:m"`, `critic.agent = "b:n"`, nil, "m", "n"},
		"and for the same agent":      {`agent = "a:m"`, "", map[string][]string{"critic.agent": {"a:x/y:z"}}, "m", "x/y:z"},
		"and replaced by a flag":      {`agent = "a:m"`, "", map[string][]string{"agent": {"a"}, "model": {"n"}}, "n", "n"},
		"said twice":                  {"agent = \"a:m\"\nmodel = \"m\"", "", nil, "m", "m"},
		"set above for another agent": {`critic.agent = "b"`, `model = "m"`, nil, "m", "m"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.global(test.global)
			p.project(test.project)
			o := p.options()
			o.Flags = test.flags
			c := mustLoad(t, o)
			if c.Actor.Model != test.actor || c.Critic.Model != test.critic {
				t.Errorf("got %q, %q; want %q, %q", c.Actor.Model, c.Critic.Model, test.actor, test.critic)
			}
		})
	}
}

// TestAgentIsTakenWhole: an agent's table in a higher layer replaces the lower one as a
// whole.
func TestAgentIsTakenWhole(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.global("[agents.x]\ncommand = [\"global\"]\ninstall = \"from global\"\n[agents.Y]\ncommand = [\"why\"]\n")
	project := p.project("[agents.x]\ncommand = [\"project\"]\n")
	o := p.options()
	o.TrustProject = true
	c := mustLoad(t, o)
	want := map[string]CustomAgent{
		"x": {Command: []string{"project"}},
		"Y": {Command: []string{"why"}},
	}
	if !reflect.DeepEqual(c.Agents, want) {
		t.Errorf("got %+v, want %+v", c.Agents, want)
	}
	if got := c.Origin("agents.x.command"); got.File != project || got.Line != 2 {
		t.Errorf("the command comes from %+v", got)
	}
	if got := c.Origin("agents.x.install"); got.Layer != Default {
		t.Errorf("install still comes from %+v", got)
	}
}

// TestOutputs: an agent's output format must be among the known ones.
func TestOutputs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.global("[agents.x]\ncommand = [\"x\"]\noutput = \"x-stream\"\n")
	o := p.options()
	if _, err := Load(o); err == nil {
		t.Error("an unknown output format was accepted")
	}
	p.global("[agents.x]\ncommand = [\"x\"]\noutput = \"codex-json\"\n")
	if got := mustLoad(t, o).Agents["x"].Output; got != "codex-json" {
		t.Errorf("output is %q", got)
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ variable, problem, hint string }{
		"unset when empty":  {"CODELOOPS_MAX_ITERATIONS=", "", ""},
		"not a number":      {"CODELOOPS_MAX_ITERATIONS=ten", `CODELOOPS_MAX_ITERATIONS must be a whole number, not "ten"`, ""},
		"too large":         {"CODELOOPS_CRITIC_RETRIES=99999999999999999999", `CODELOOPS_CRITIC_RETRIES must be a whole number, not "99999999999999999999"`, ""},
		"no unit":           {"CODELOOPS_ACTOR_TIMEOUT=60", `CODELOOPS_ACTOR_TIMEOUT must be a duration, not "60"`, `write it like "90s", "1h30m" or "2d"`},
		"slip":              {"CODELOOPS_MAX_ITERATION=3", "unknown variable CODELOOPS_MAX_ITERATION", `did you mean "CODELOOPS_MAX_ITERATIONS"?`},
		"list":              {"CODELOOPS_CHECKS=make", "CODELOOPS_CHECKS cannot be set: checks is a list", "write it in a configuration file"},
		"far from any key":  {"CODELOOPS_GREETING=hello", "", ""},
		"another prefix":    {"CODELOOP_AGENT=x", "", ""},
		"told to an agent":  {"CODELOOPS_SESSION=2025", "", ""},
		"not UTF-8":         {"CODELOOPS_MODEL=\xff", "CODELOOPS_MODEL must be UTF-8 text", ""},
		"the prefix itself": {"CODELOOPS_=1", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(Options{Env: []string{test.variable}})
			if test.problem == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			got, ok := errors.AsType[*Error](err)
			if !ok || got.Error() != test.problem || got.Hint != test.hint {
				t.Errorf("got %v\nwant %s\n  hint: %s", hints(err), test.problem, test.hint)
			}
		})
	}
}

// Variables that codeloops sets for agents are not reported as misspelled keys by a
// codeloops that an agent runs.
func TestVariablesOfAgents(t *testing.T) {
	t.Parallel()
	mustLoad(t, Options{Env: []string{
		"CODELOOPS_ASK=1", "CODELOOPS_ITERATION=1", "CODELOOPS_ROLE=actor", "CODELOOPS_RUN=1", "CODELOOPS_SESSION=1", "CODELOOPS_STEP=1.actor",
	}})
}

func TestFlags(t *testing.T) {
	t.Parallel()
	_, err := Load(Options{Flags: map[string][]string{
		"max_iterations": {"-1"},
		"actor.timeout":  {"-1s"},
		"checks":         {"make", ""},
		"agent":          {"caf\xe9"},
		"session_dir":    {"a", "b"},
	}})
	want := `--agent must be UTF-8 text
--max-iterations must not be negative, but is -1
--check has a bad item 2: it must not be empty
--session-dir takes one value, not 2
--actor-timeout must not be negative, but is -1s
`
	if got := hints(err); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The problems of all layers are reported together, and each can be examined.
func TestAllProblems(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.global("agent = 1\n")
	p.project("agent = 2\nmodle = 3\n")
	o := p.options("CODELOOPS_MAX_ITERATIONS=x")
	_, err := Load(o)
	problems, ok := errors.AsType[Errors](err)
	if !ok || len(problems) != 4 {
		t.Fatalf("got %v", err)
	}
	if got, _ := errors.AsType[*Error](err); !errors.Is(problems[0], got) {
		t.Errorf("the first problem is %v", got)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 4 {
		t.Errorf("the message has %d lines", len(lines))
	}
}

func TestManyProblemsAreCut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	p.project(b.String())
	_, err := Load(p.options())
	if problems, _ := errors.AsType[Errors](err); len(problems) != maxProblems {
		t.Errorf("got %d problems", len(problems))
	}
}

func TestValidateAfterChange(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.global("model = \"m\"\n[agents.x]\ncommand = [\"x\", \"{model}\"]\n")
	c := mustLoad(t, p.options())
	c.Critic = Judge{Role: Role{Agent: "x"}}
	if err := c.validate(); err == nil || !strings.Contains(err.Error(), "the critic has no model") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(Options{Env: []string{"CODELOOPS_MODEL=m"}, Flags: map[string][]string{"agent": {"a"}}}); err != nil {
			b.Fatal(err)
		}
	}
}

// A role inherits the fallbacks of the highest layer that sets either key; an empty list
// means none.
func TestFallbackIsInherited(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.global("fallback = [\"codex\", \"claude:haiku:x\"]\nactor.fallback = [\"pi\"]\n")
	c := mustLoad(t, p.options())
	if want := []string{"codex", "claude:haiku:x"}; !slices.Equal(c.Actor.Fallback, []string{"pi"}) || !slices.Equal(c.Critic.Fallback, want) {
		t.Errorf("got %q and %q", c.Actor.Fallback, c.Critic.Fallback)
	}
	p.project("critic.fallback = []\n")
	o := p.options()
	if c = mustLoad(t, o); len(c.Critic.Fallback) != 0 || len(c.Actor.Fallback) != 1 {
		t.Errorf("got %q and %q", c.Actor.Fallback, c.Critic.Fallback)
	}
	o.Flags = map[string][]string{"fallback": {"qwen"}}
	if c = mustLoad(t, o); !slices.Equal(c.Actor.Fallback, []string{"qwen"}) || !slices.Equal(c.Critic.Fallback, []string{"qwen"}) {
		t.Errorf("with a flag: %q and %q", c.Actor.Fallback, c.Critic.Fallback)
	}
	for _, bad := range []string{"", ":m", "a:", "a b", "a:-m", "-a"} {
		o.Flags = map[string][]string{"fallback": {bad}}
		if _, err := Load(o); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

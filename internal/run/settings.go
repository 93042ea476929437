package run

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
	"codeloops/internal/wording/hint"
)

// A Kind says what values a setting takes.
type Kind int

// The kinds of settings.
const (
	Text   Kind = iota
	Number      // whole
	Switch      // on or off
	List        // may be repeated; a value may be several with commas between them
	Lines       // may be repeated; a value is one, whatever stands in it
)

// A Setting is one thing that can be said of a run, beside its prompt and its place. This
// is the one place where it is written down.
type Setting struct {
	Flag  string // what a command line and a log call it
	Short string // one letter for it; "" is none
	Key   string // of the configuration; "": it is none of its keys
	Kind  Kind
	Kept  Keeping
	Usage string // for people; a word in back-quotes is what its value is called
}

// A Keeping says what becomes of a setting when the session is carried on.
type Keeping int

// What becomes of a setting.
const (
	// Logged: the log keeps it, and whoever carries the session on is held to it.
	Logged Keeping = iota
	// Inherited: a field of the log's own keeps what the session began with.
	Inherited
	// Said: it is about one run, and has to be said again.
	Said
	// Shown: it is about who looks on, and matters to no other run.
	Shown
)

// Table lists all settings, in the order in which help lists them.
func Table() []Setting {
	return []Setting{
		{"agent", "a", "agent", Text, Inherited, "agent for both roles (see codeloops agents)"},
		{"actor-agent", "", "actor.agent", Text, Inherited, "`agent` that does the work"},
		{"critic-agent", "", "critic.agent", Text, Inherited, "`agent` that judges it"},
		{"critic-panel", "", "critic.panel", List, Logged, "`agent`, or agent:model, of a panel that judges in the place of one critic; may be repeated"},
		{"critic-quorum", "", "critic.quorum", Text, Logged, "how many of the panel have to say DONE: `all`, majority or a number (default all)"},
		{"model", "m", "model", Text, Inherited, "model for both roles"},
		{"actor-model", "", "actor.model", Text, Inherited, "`model` of the actor"},
		{"critic-model", "", "critic.model", Text, Inherited, "`model` of the critic"},
		{"agent-order", "", "agent_order", List, Inherited, "`agent`, or agent:model, that \"auto\" may choose; may be repeated"},
		{"fallback", "", "fallback", List, Inherited, "`agent`, or agent:model, that takes over when one cannot go on; may be repeated"},
		{"actor-session", "", "actor_session", Text, Logged, "`fresh`, or resume: continue the actor's conversation over the iterations (default fresh)"},
		{"critic-view", "", "critic_view", Text, Logged, "where critics and checks work: `auto`, overlay, clone, copy, or tree: the work tree itself (default auto)"},
		{"critic-access", "", "critic_access", Text, Logged, "what critics may do there: `full`, or read-only (default full)"},
		{"critic-env", "", "critic_env", Text, Logged, "`full`, or clean: no secrets for the critic except what its model needs (default full)"},
		{"env-pass", "", "env_pass", Lines, Logged, "secret `variable` that a critic gets with a clean environment; may be repeated"},
		{"strategy", "", "strategy.name", Text, Inherited, "how agents are driven: `name` of one of codeloops strategies (default actor-critic)"},
		{"best-of", "", "", Number, Inherited, "have `n` candidates work at the same time, each in a copy, and go on with the best (tree-of-thoughts)"},
		{"approve-plan", "", "strategy.approve_plan", Switch, Inherited, "ask on the terminal whether the plan is right, and go on when it is (plan-and-execute)"},
		{"jobs", "", "strategy.jobs", Number, Said, "how many agents may be at work at the same time"},
		{"script", "", "", Text, Logged, "scenario `file` for the agent called scripted"},

		{"max-iterations", "n", "max_iterations", Number, Inherited, "end after this many iterations; 0 is no limit (default 10)"},
		{"max-duration", "", "max_duration", Text, Logged, "end after this `time`, such as 90m (default: no limit)"},
		{"max-cost", "", "max_cost", Text, Logged, "end when the turns have cost this many US `dollars`, as the agents report it"},
		{"max-tokens", "", "max_tokens", Number, Logged, "end when the turns have used this many `tokens`, as the agents report them"},
		{"max-wait", "", "max_wait", Text, Logged, "wait at most this `time` for a rate limit to end (default 6h)"},
		{"no-wait", "", "", Switch, Logged, "do not wait for a rate limit: end with agent_rate_limited"},
		{"actor-timeout", "", "actor.timeout", Text, Logged, "time `limit` of one turn of the actor; 0s is none (default 1h)"},
		{"critic-timeout", "", "critic.timeout", Text, Logged, "time `limit` of one turn of the critic; 0s is none (default 1h)"},
		{"check", "", "checks", Lines, Logged, "shell `command` that must pass before the work is done; may be repeated"},
		{"check-before", "", "check_before", Switch, Logged, "also run the checks before the session, to know what failed already"},
		{"fail-fast", "", "fail_fast", Switch, Logged, "skip the remaining checks after one that fails"},
		{"profile", "", "profile", Text, Logged, "the values that settings start from: default or strict (docs/policy.md)"},
		{"approval-threshold", "", "approval_threshold", Text, Logged, "the critic's `score`, 0 to 1, that approves the work, whatever the critic decides"},
		{"require-change", "", "require_change", Switch, Logged, "the work is done only when something has changed"},

		{"log-format", "", "log_format", Text, Shown, "how progress is shown: pretty, compact or json (events as JSON lines)"},
		{"session-dir", "", "session_dir", Text, Said, "keep session logs in `dir`"},
		{"trust-project", "", "", Switch, Said, "honour keys of the project's codeloops.toml that run commands, for this run"},
	}
}

func find(flag string) (row Setting, ok bool) {
	rows := Table()
	i := slices.IndexFunc(rows, func(s Setting) bool { return s.Flag == flag })
	if i < 0 {
		return row, false
	}
	return rows[i], true
}

// Settings are what was said of a run. The zero value says nothing.
type Settings struct {
	flags  []loop.Flag
	values map[string]any // by key of the configuration
}

// NewSettings reads settings, which have the names of [Table].
func NewSettings(flags []loop.Flag) (Settings, error) {
	s := Settings{flags: flags, values: map[string]any{}}
	for _, f := range flags {
		row, ok := find(f.Name)
		if !ok {
			return s, fmt.Errorf("there is no setting %q", f.Name)
		}
		value, err := row.value(f.Values)
		if err != nil {
			return s, err
		}
		if row.Key != "" {
			s.values[row.Key] = value
		}
	}
	if err := s.bestOf(); err != nil {
		return s, err
	}
	if !s.on("no-wait") {
		return s, nil
	}
	if wait, ok := s.values["max_wait"]; ok {
		return s, hint.Errorf("leave one of them out", "--no-wait and --max-wait %s contradict each other", wait)
	}
	s.values["max_wait"] = "0s"
	return s, nil
}

// bestOf spells out --best-of.
func (s Settings) bestOf() error {
	if !s.has("best-of") {
		return nil
	}
	n, err := strconv.Atoi(s.text("best-of"))
	if err != nil || n < 1 {
		return hint.Errorf("give a number from 1", "--best-of is %q", s.text("best-of"))
	}
	if name, said := s.values["strategy.name"]; said && name != strategy.NameTree {
		return hint.Errorf("leave one of them out", "--best-of is of the strategy %s, and contradicts --strategy %s", strategy.NameTree, name)
	}
	s.values["strategy.name"], s.values["strategy.branch_factor"], s.values["strategy.max_depth"] = strategy.NameTree, n, 1
	return nil
}

// value is that of a setting as the configuration takes it.
func (s Setting) value(words []string) (any, error) {
	if s.Kind == List || s.Kind == Lines {
		return append([]string{}, words...), nil
	}
	if len(words) != 1 {
		return nil, fmt.Errorf("--%s takes one value, not %d", s.Flag, len(words))
	}
	switch s.Kind {
	case Number:
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", words[0])
		}
		return n, nil
	case Switch:
		on, err := strconv.ParseBool(words[0])
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", words[0])
		}
		return on, nil
	case Text, List, Lines:
	}
	return words[0], nil
}

// has reports whether a setting was said.
func (s Settings) has(flag string) bool {
	return slices.ContainsFunc(s.flags, func(f loop.Flag) bool { return f.Name == flag })
}

// text is what was said, "" when nothing was.
func (s Settings) text(flag string) string {
	for _, f := range s.flags {
		if f.Name == flag && len(f.Values) == 1 {
			return f.Values[0]
		}
	}
	return ""
}

// on reports whether a switch was set.
func (s Settings) on(flag string) bool {
	on, err := strconv.ParseBool(s.text(flag))
	return err == nil && on
}

// Trusts reports whether the project's file is trusted for this run.
func (s Settings) Trusts() bool { return s.on("trust-project") }

// Values are the settings that are keys of the configuration, by key.
func (s Settings) Values() map[string]any { return maps.Clone(s.values) }

// logged are those that the log keeps.
func (s Settings) logged() (flags []loop.Flag) {
	for _, f := range s.flags {
		if row, _ := find(f.Name); row.Kept == Logged {
			flags = append(flags, f)
		}
	}
	return flags
}

// again are the settings with those that a session was begun with, where they are not
// said now. Of a log that is not trusted none is taken: it says what commands are run.
// They have to be said again, as those have that the log does not keep, for without them
// work could count as done that should not.
func (s Settings) again(was loop.Session, trusted bool) (Settings, error) {
	var hidden, doubtful []string
	flags := slices.Clone(s.flags)
	for _, f := range was.Flags {
		row, known := find(f.Name)
		switch {
		case !known || row.Kept != Logged || s.has(f.Name) || s.contradicts(f.Name):
		case f.Hidden:
			hidden = append(hidden, "--"+f.Name)
		case !trusted:
			doubtful = append(doubtful, "--"+f.Name)
		default:
			if _, err := row.value(f.Values); err != nil {
				return s, hint.Errorf("say it again: codeloops resume --"+f.Name, "session %s was given what --%s cannot be: %v", was.ID, f.Name, err)
			}
			flags = append(flags, f)
		}
	}
	if err := unsaid(was.ID, hidden, doubtful); err != nil {
		return s, err
	}
	return NewSettings(flags)
}

// unsaid is the error of settings that have to be said again, nil when there are none.
func unsaid(id string, hidden, doubtful []string) error {
	const again = "say it again, or what is to count instead: codeloops resume "
	switch {
	case hidden != nil:
		return hint.Errorf(again+strings.Join(hidden, " "), "session %s was given a secret with %s, which its log does not keep", id, strings.Join(hidden, ", "))
	case doubtful != nil:
		return hint.Errorf(again+strings.Join(doubtful, " "),
			"session %s was given %s, but its log is where others can have written what they like", id, strings.Join(doubtful, ", "))
	}
	return nil
}

// contradicts reports whether a setting says the contrary of one that was said.
func (s Settings) contradicts(flag string) bool {
	return flag == "no-wait" && s.has("max-wait") || flag == "max-wait" && s.has("no-wait")
}

// inherit takes over, from a session, who played in it and for how long, where nothing
// else is said.
func (s Settings) inherit(was loop.Session) {
	for _, role := range []struct {
		name     string
		ref      loop.AgentRef
		fallback []loop.AgentRef
	}{{"actor", was.Actor, was.ActorFallback}, {"critic", was.Critic, was.CriticFallback}} {
		// Of a log without rules, an empty list may mean that it is too old.
		if !s.says(role.name, "fallback") && (len(role.fallback) > 0 || len(was.Rules) > 0) {
			s.values[role.name+".fallback"] = entries(role.fallback)
		}
		if s.says(role.name, "agent") {
			continue
		}
		s.values[role.name+".agent"] = role.ref.Agent
		if !s.says(role.name, "model") {
			s.values[role.name+".model"] = role.ref.Model
		}
	}
	if _, ok := s.values["max_iterations"]; !ok {
		s.values["max_iterations"] = was.MaxIterations
	}
}

// says reports whether something of a role, or of both, was said.
func (s Settings) says(role, what string) bool {
	_, general := s.values[what]
	_, own := s.values[role+"."+what]
	return general || own
}

// entries spells agents as the configuration does.
func entries(refs []loop.AgentRef) []string {
	list := []string{}
	for _, r := range refs {
		entry := r.Agent
		if r.Model != "" {
			entry += ":" + r.Model
		}
		list = append(list, entry)
	}
	return list
}

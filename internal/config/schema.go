package config

import (
	"slices"
	"strings"
	"time"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/wording"
)

// A setting is one key of the configuration.
type setting struct {
	// key is the path with dots between tables; "*" stands for a name that the user
	// chooses.
	key   string
	value kind
	// byDefault is what [Config] holds when nothing sets the key. For a key with "*" it
	// is a sample, because such a key has no default.
	byDefault any
	flag      string // on the command line; "" when there is none
	// guarded keys need the user's trust in a project file.
	guarded bool
	// own keys are not allowed in a project file.
	own bool
	// loosens is set for a key that constrains a run.
	loosens looser
	// directory means that a relative value is relative to the place where it was set.
	directory bool
}

// A schema is all keys, in the order in which to show them: those of the top level, then
// table by table. codeloops.toml.example explains each key; a test compares the two.
type schema []setting

func newSchema() schema {
	return slices.Concat(
		general(), verdicts(), templates(), roleSchema("actor", "--actor-"), roleSchema("critic", "--critic-"), panel(),
		strategySchema(), lessonsSchema(), queueSchema(), policy(), convergence(), agent(),
	)
}

func general() schema {
	return schema{
		{key: "agent", value: text(agentAndModel), byDefault: "claude", flag: "--agent"},
		{key: "model", value: text(modelName), byDefault: "", flag: "--model"},
		{key: "agent_order", value: list(agentAndModel), byDefault: []string{}, flag: "--agent-order"},
		{key: "fallback", value: list(agentAndModel), byDefault: []string{}, flag: "--fallback"},
		{key: "max_iterations", value: count(0), byDefault: 10, flag: "--max-iterations"},
		{key: "max_duration", value: duration, byDefault: time.Duration(0), flag: "--max-duration", loosens: moreThanLimit},
		{key: "max_cost", value: dollars(), byDefault: 0.0, flag: "--max-cost", loosens: moreThanLimit},
		{key: "max_tokens", value: count(0), byDefault: 0, flag: "--max-tokens", loosens: moreThanLimit},
		{key: "max_wait", value: duration, byDefault: 6 * time.Hour, flag: "--max-wait"},
		{key: "max_consecutive_errors", value: count(1), byDefault: 3},
		{key: "critic_retries", value: count(0), byDefault: 2},
		{key: "actor_session", value: choice("fresh", "resume"), byDefault: "fresh", flag: "--actor-session"},
		{key: "max_output", value: size(0), byDefault: Size(256 << 20)},
		{key: "log_output", value: size(1 << 10), byDefault: Size(1 << 20)},
		{key: "checks", value: list(notBlank), byDefault: []string{}, flag: "--check", guarded: true, loosens: lacks},
		{key: "check_timeout", value: duration, byDefault: 10 * time.Minute, loosens: moreThanLimit},
		{key: "check_before", value: toggle, byDefault: false, flag: "--check-before"},
		{key: "fail_fast", value: toggle, byDefault: false, flag: "--fail-fast"},
		{key: "confirm", value: choice("short", "never"), byDefault: "short", guarded: true},
		{key: "log_format", value: choice("pretty", "compact", "json"), byDefault: "pretty", flag: "--log-format"},
		{key: "ci", value: choice("auto", "none", "github", "gitlab"), byDefault: "auto", flag: "--ci", guarded: true},
		{key: "notify", value: choice("none", "bell", "osc9", "osc777"), byDefault: "none", flag: "--notify", guarded: true},
		{key: "title", value: toggle, byDefault: true, flag: "--title", guarded: true},
		{key: "session_dir", value: text(orEmpty(notBlank)), byDefault: "", flag: "--session-dir", guarded: true, directory: true},
		{key: "keep", value: count(0), byDefault: 20, guarded: true},
		{key: "keep_for", value: duration, byDefault: 30 * 24 * time.Hour, guarded: true},
		{key: "env_deny", value: list(globPattern), byDefault: []string{}, guarded: true, loosens: lacks},
		{key: "critic_view", value: choice("auto", "overlay", "clone", "copy", "tree"), byDefault: "auto", flag: "--critic-view", guarded: true, loosens: becomes("tree")},
		{key: "critic_access", value: choice("full", "read-only"), byDefault: "full", flag: "--critic-access", guarded: true, loosens: lower("full", "read-only")},
		{key: "critic_env", value: choice("full", "clean"), byDefault: "full", flag: "--critic-env", guarded: true, loosens: lower("full", "clean")},
		{key: "env_pass", value: list(globPattern), byDefault: []string{}, flag: "--env-pass", guarded: true, loosens: adds},
	}
}

func agent() schema {
	s := schema{
		{key: "agents.*.command", value: list(plain), byDefault: []string{"mine", "--yes"}},
		{key: "agents.*.critic_command", value: list(plain), byDefault: []string{"mine", "--read-only"}},
		{key: "agents.*.prompt", value: choice("stdin", "pipe", "arg", "file"), byDefault: "stdin"},
		{key: "agents.*.output", value: choice(append([]string{"text"}, transcript.Formats()...)...), byDefault: "text"},
		{key: "agents.*.model_args", value: list(plain), byDefault: []string{"--model", "{model}"}},
		{key: "agents.*.session_args", value: list(plain), byDefault: []string{"--session-id", "{session_id}"}},
		{key: "agents.*.resume_args", value: list(plain), byDefault: []string{"--resume", "{conversation}"}},
		{key: "agents.*.env.*", value: text(plain), byDefault: "value"},
		{key: "agents.*.install", value: text(plain), byDefault: "see the project's wiki"},
	}
	return s.guard()
}

// guard makes all keys guarded.
func (s schema) guard() schema {
	for i := range s {
		s[i].guarded = true
	}
	return s
}

func orEmpty(check func(string) *fault) func(string) *fault {
	return func(s string) *fault {
		if s == "" {
			return nil
		}
		return check(s)
	}
}

// find returns the setting of a key.
func (s schema) find(key []string) (setting, bool) {
	for _, candidate := range s {
		pattern := candidate.path()
		if len(pattern) == len(key) && matches(pattern, key) {
			return candidate, true
		}
	}
	return setting{}, false
}

// isTable reports whether there are keys below key.
func (s schema) isTable(key []string) bool {
	return slices.ContainsFunc(s, func(candidate setting) bool {
		pattern := candidate.path()
		return len(pattern) > len(key) && matches(pattern, key)
	})
}

// siblings lists the valid names in the table that key is in, including tables.
func (s schema) siblings(key []string) []string {
	var names []string
	last := len(key) - 1
	for _, candidate := range s {
		pattern := candidate.path()
		if len(pattern) < len(key) || !matches(pattern, key[:last]) {
			continue
		}
		if name := pattern[last]; name != "*" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// hint says what an unknown key was probably meant to be.
func (s schema) hint(key []string) string {
	last := len(key) - 1
	table := strings.Join(append(key[:last:last], ""), ".")
	names := s.siblings(key)
	if best, ok := wording.Nearest(key[last], names); ok {
		return didYouMean(table + best)
	}
	for _, candidate := range s {
		if pattern := candidate.path(); pattern[len(pattern)-1] == key[last] && !candidate.named() {
			return didYouMean(candidate.key)
		}
	}
	const most = 12 // names that somebody would read
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return "`codeloops config show` lists the keys"
	}
	return "valid here: " + strings.Join(names, ", ")
}

// path returns the parts of the setting's key.
func (s setting) path() []string { return strings.Split(s.key, ".") }

// named reports whether the key includes a name that the user chooses.
func (s setting) named() bool { return strings.Contains(s.key, "*") }

// scalar reports whether a variable can set the key.
func (s setting) scalar() bool {
	_, isList := s.byDefault.([]string)
	return !isList && !s.named()
}

// variable returns the name of the environment variable for the setting.
func (s setting) variable() string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// flagName returns what the command line calls the setting.
func (s setting) flagName() string {
	if s.flag != "" {
		return s.flag
	}
	return "--" + strings.NewReplacer(".", "-", "_", "-").Replace(s.key)
}

// matches reports whether pattern begins with the parts of key.
func matches(pattern, key []string) bool {
	for i, part := range key {
		if pattern[i] != "*" && pattern[i] != part {
			return false
		}
	}
	return true
}

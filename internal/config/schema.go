package config

import (
	"strings"
	"time"

	"codeloops/internal/spell"
)

// A setting is one key of the configuration.
type setting struct {
	// key is the path with dots between tables; "*" stands for a name of the
	// user's choice.
	key   string
	value kind
	// byDefault is what [Config] holds when nothing sets the key. For a key
	// below "*" it is a sample instead: such a key has no value by itself.
	byDefault any
	doc       string // for a person, one line or several
	flag      string // of the command line; "" when there is none
	// guarded keys of a project file need the user's trust.
	guarded bool
	// directory says that a relative value is relative to where it was set.
	directory bool
}

// A schema is every key, in the order in which people read them: a table's
// keys stand together, after all keys of the top level.
type schema []setting

// newSchema returns the schema; outputs are the output formats that an agent
// may have besides "text".
func newSchema(outputs []string) schema {
	s := append(general(), verdicts()...)
	s = append(s, templates()...)
	s = append(s, role("actor")...)
	s = append(s, role("critic")...)
	s = append(s, policy()...)
	s = append(s, convergence()...)
	return append(s, agent(outputs)...)
}

func general() schema {
	return schema{
		{
			key: "agent", value: text(agentName), byDefault: "claude", flag: "--agent",
			doc: "The agent that plays a role which names none of its own: one of\n`codeloops agents`, or of [agents] below, or \"auto\".\nWhere nobody names one, it is the first of agent_order that is installed.",
		},
		{
			key: "model", value: text(modelName), byDefault: "", flag: "--model",
			doc: `The model it is asked for; "" is the agent's default.`,
		},
		{
			key: "agent_order", value: list(agentAndModel), byDefault: []string{}, flag: "--agent-order",
			doc: `Among whom the agent "auto" chooses: the first one that is installed and signed
in, such as ["codex", "claude:opus"]. Without any it is the order of
` + "`codeloops agents`" + `.`,
		},
		{
			key: "fallback", value: list(agentAndModel), byDefault: []string{}, flag: "--fallback",
			doc: "Who plays on, in turn, when an agent cannot: [\"codex\", \"claude:haiku\"]. One\ncannot when it is not signed in, at a limit that is not waited for, overloaded\nfor too long, or when the prompt is too long for its model.",
		},
		{
			key: "max_iterations", value: count(0), byDefault: 10, flag: "--max-iterations",
			doc: "The most iterations of actor and critic; 0 is no limit.",
		},
		{
			key: "max_duration", value: duration, byDefault: time.Duration(0), flag: "--max-duration",
			doc: `The longest that a run may take; "0s" is no limit.`,
		},
		{
			key: "max_cost", value: dollars, byDefault: 0.0, flag: "--max-cost",
			doc: "What all turns may cost together, in US dollars as the agents report it; 0.0 is\nno limit. The run ends before the next turn. An agent that reports none needs\nprice_input and price_output.",
		},
		{
			key: "max_tokens", value: count(0), byDefault: 0, flag: "--max-tokens",
			doc: "The tokens that all turns may use together, input, cache and output; 0 is no\nlimit. What an agent does not report is estimated, too low, from the texts.",
		},
		{
			key: "max_wait", value: duration, byDefault: 6 * time.Hour, flag: "--max-wait",
			doc: `The longest wait for an agent's rate limit to end; "0s" is not to wait, neither
for that nor for a service that is overloaded. Unless it is set, one with a
fallback waits 5 minutes at most.`,
		},
		{
			key: "max_consecutive_errors", value: count(1), byDefault: 3,
			doc: "So many failed iterations in a row end a run.",
		},
		{
			key: "critic_retries", value: count(0), byDefault: 2,
			doc: "How often a critic is asked again for a decision that can be read.",
		},
		{
			key: "actor_session", value: choice("fresh", "resume"), byDefault: "fresh", flag: "--actor-session",
			doc: `Whether each of the actor's turns is a "fresh" conversation with its agent, or
carries the last one on: "resume". A critic's are always fresh.`,
		},
		{
			key: "max_output", value: size(0), byDefault: Size(256 << 20),
			doc: "A turn that prints more is stopped; 0 is no limit. Sizes have a unit (B, KB,\nKiB, MB, MiB, GB, GiB); a bare number is bytes.",
		},
		{
			key: "log_output", value: size(1 << 10), byDefault: Size(1 << 20),
			doc: "How much of each output stream of a turn the session log keeps.",
		},
		{
			key: "checks", value: list(notBlank), byDefault: []string{}, flag: "--check", guarded: true,
			doc: "Shell commands that must pass before the critic may say DONE, such as\n[\"go test ./...\"]. In a project file they need `codeloops config trust`.",
		},
		{
			key: "check_timeout", value: duration, byDefault: 10 * time.Minute,
			doc: `The time limit of one check; "0s" is no limit.`,
		},
		{
			key: "check_before", value: toggle, byDefault: false, flag: "--check-before",
			doc: "Whether the checks are also run before the session, so that everybody is told\nwhich of them failed already.",
		},
		{
			key: "fail_fast", value: toggle, byDefault: false, flag: "--fail-fast",
			doc: "Whether no check is run after one that fails.",
		},
		{
			key: "confirm", value: choice("short", "never"), byDefault: "short", guarded: true,
			doc: "Which prompts are shown on a terminal, with agents and limits, and wait for a\nkey: \"short\" is those under four words, \"never\" is none, as with --yes.",
		},
		{
			key: "log_format", value: choice("pretty", "compact", "json"), byDefault: "pretty", flag: "--log-format",
			doc: `How progress is shown: "pretty", "compact" or "json".`,
		},
		{
			key: "session_dir", value: text(plain), byDefault: "", flag: "--session-dir", guarded: true, directory: true,
			doc: "Where session logs are kept, outside of the work tree; \"\" is codeloops/sessions\nin $XDG_DATA_HOME. A relative path starts at this file. In a project file it\nneeds trust.",
		},
		{
			key: "env_deny", value: list(globPattern), byDefault: []string{}, guarded: true,
			doc: "Environment variables, by name or glob (\"AWS_*\"), that agents do not get. In a\nproject file it needs trust.",
		},
		{
			key: "critic_worktree", value: boolean, byDefault: false, flag: "--critic-worktree", guarded: true,
			doc: "Whether the critic gets a copy of the work tree, made anew for every turn, in\nwhich it may build, test and change what it likes; it is then started as an\nactor is. In a project file it needs trust.",
		},
		{
			key: "critic_env", value: choice("full", "clean"), byDefault: "full", flag: "--critic-env", guarded: true,
			doc: `What a critic gets of the environment: "full" is all that an actor gets,
"clean" leaves out variables whose names look secret, but for those that its
own model needs and those of env_pass. In a project file it needs trust.`,
		},
		{
			key: "env_pass", value: list(globPattern), byDefault: []string{}, flag: "--env-pass", guarded: true,
			doc: `Secret variables, by name or glob, that a critic gets also when critic_env is
"clean". In a project file it needs trust.`,
		},
	}
}

func role(name string) schema {
	flag := "--" + name + "-"
	return schema{
		{
			key: name + ".agent", value: text(orEmpty(agentName)), byDefault: "", flag: flag + "agent",
			doc: "The " + name + "'s own agent; \"\" is the general one.",
		}, {
			key: name + ".model", value: text(modelName), byDefault: "", flag: flag + "model",
			doc: "The " + name + "'s own model; \"\" is the general one.",
		}, {
			key: name + ".fallback", value: list(agentAndModel), byDefault: []string{},
			doc: "Who plays on when the " + name + "'s agent cannot go on; without it, the general one,\nand with [] nobody.",
		}, {
			key: name + ".timeout", value: duration, byDefault: time.Hour, flag: flag + "timeout",
			doc: "The time limit of one turn; \"0s\" is no limit.",
		}, {
			key: name + ".idle_timeout", value: duration, byDefault: 15 * time.Minute,
			doc: "A turn that prints nothing for so long is stopped; \"0s\" is no limit. The\ndefault counts only for an agent that prints as it works, one that you set for\nany.",
		}, {
			key: name + ".max_cost", value: dollars, byDefault: 0.0,
			doc: "What the " + name + "'s turns may cost together, in US dollars; 0.0 is no limit\nbut the general one.",
		}, {
			key: name + ".max_tokens", value: count(0), byDefault: 0,
			doc: "The tokens that the " + name + "'s turns may use together; 0 is no limit but the\ngeneral one.",
		}, {
			key: name + ".price_input", value: dollars, byDefault: 0.0,
			doc: "US dollars for a million tokens of input, to estimate what a turn cost of an\nagent that does not report it.",
		}, {
			key: name + ".price_output", value: dollars, byDefault: 0.0,
			doc: "The same for a million tokens of output.",
		},
	}
}

func agent(outputs []string) schema {
	s := schema{
		{
			key: "agents.*.command", value: list(plain), byDefault: []string{"mine", "--yes"},
			doc: "The command and its arguments. {prompt} and {prompt_file} stand for the prompt\nor a file with it, as `prompt` says; {model} for the model, which then must be\nset.",
		}, {
			key: "agents.*.critic_command", value: list(plain), byDefault: []string{"mine", "--read-only"},
			doc: "The command for a critic, which must change nothing; without it, `command`.",
		}, {
			key: "agents.*.prompt", value: choice("stdin", "pipe", "arg", "file"), byDefault: "stdin",
			doc: "How the prompt gets there: \"stdin\" is a file on standard input, \"pipe\" a pipe,\n\"arg\" the argument {prompt}, \"file\" the file {prompt_file}.",
		}, {
			key: "agents.*.output", value: choice(append([]string{"text"}, outputs...)...), byDefault: "text",
			doc: `What it prints: "text", or a structured format that codeloops can read.`,
		}, {
			key: "agents.*.model_args", value: list(plain), byDefault: []string{"--model", "{model}"},
			doc: "Arguments that are added only when a model is set.",
		}, {
			key: "agents.*.session_args", value: list(plain), byDefault: []string{"--session-id", "{session_id}"},
			doc: "Arguments that are added to begin a conversation; {session_id} stands for its\nname, a UUID that the log holds as well.",
		}, {
			key: "agents.*.resume_args", value: list(plain), byDefault: []string{"--resume", "{conversation}"},
			doc: "Arguments that are added to carry on a conversation, whose name a structured\noutput tells.",
		}, {
			key: "agents.*.env.*", value: text(plain), byDefault: "value",
			doc: "Variables that it gets besides the environment.",
		}, {
			key: "agents.*.install", value: text(plain), byDefault: "see the project's wiki",
			doc: "What to tell a user who lacks the command.",
		},
	}
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
	for _, candidate := range s {
		if pattern := candidate.path(); len(pattern) > len(key) && matches(pattern, key) {
			return true
		}
	}
	return false
}

// siblings lists the valid keys of the table that key stands in, tables among
// them.
func (s schema) siblings(key []string) []string {
	var names []string
	seen := map[string]bool{}
	last := len(key) - 1
	for _, candidate := range s {
		pattern := candidate.path()
		if len(pattern) < len(key) || !matches(pattern, key[:last]) {
			continue
		}
		if name := pattern[last]; name != "*" && !seen[name] {
			seen[name] = true
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
	if best, ok := spell.Nearest(key[last], names); ok {
		return didYouMean(table + best)
	}
	for _, candidate := range s {
		if pattern := candidate.path(); pattern[len(pattern)-1] == key[last] && !candidate.named() {
			return didYouMean(candidate.key)
		}
	}
	const most = 12 // names that somebody reads
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

// named reports whether the key has a name of the user's choice in it.
func (s setting) named() bool { return strings.Contains(s.key, "*") }

// scalar reports whether one word can hold the value, so that a variable can
// set it.
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

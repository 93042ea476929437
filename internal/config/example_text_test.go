package config

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

const exampleFile = "../../codeloops.toml.example"

// exampleText returns a configuration file with every key, its default, and what its
// declaration says. The keys are commented out, so that a copy changes nothing and needs no
// trust: "# " begins a description, "#" a key or a line of a long list. The keys that
// people set come first, then the others topic by topic, and the tables.
func exampleText(tb testing.TB) string {
	tb.Helper()
	var b strings.Builder
	b.WriteString(exampleHead)
	for _, k := range schema() {
		if k.Often {
			b.WriteString(k.example())
		}
	}
	topic, table := "", ""
	for _, k := range schema() {
		if k.Help == "" {
			tb.Errorf("%s has no help", k.Name)
		}
		parent, _ := k.place()
		switch {
		case k.Often:
			continue
		case parent != table:
			b.WriteString("\n" + tableHead(parent))
		case parent == "" && k.Topic != topic:
			b.WriteString("\n# " + k.Topic + "\n")
		}
		table, topic = parent, k.Topic
		b.WriteString("\n" + k.example())
	}
	return b.String()
}

// example returns a key with its description.
func (k Key) example() string {
	choices := make([]string, len(k.Choices))
	for i, c := range k.Choices {
		choices[i] = strconv.Quote(c)
	}
	help := strings.NewReplacer("{}", alternatives(k.Choices), "{", "", "}", "").Replace(k.Help)
	told := func(choice string) bool { return strings.Contains(k.Help+k.More, choice) }
	if !strings.Contains(k.Help, "{}") && slices.ContainsFunc(choices, func(c string) bool { return !told(c) }) {
		help += ": " + alternatives(k.Choices)
	}
	text := strings.ToUpper(help[:1]) + help[1:] + "."
	if k.More != "" {
		text += " " + k.More
	}
	if k.trust && !strings.Contains(k.Name, ".") {
		text += " In a project file it needs trust."
	}
	text = wrapped(text)
	if k.Flag != "" {
		text += "# Flag: --" + k.Flag + "\n"
	}
	_, name := k.place()
	return text + "#" + name + " = " + k.sample() + "\n"
}

// wrapped returns a text as comment lines.
func wrapped(text string) string {
	const width = 79
	line, all := "#", ""
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			all, line = all+line+"\n", "#"
		}
		line += " " + word
	}
	return all + line + "\n"
}

// place returns the table of the key, with sample names for "*", and its name there.
func (k Key) place() (table, name string) {
	parts := k.path()
	switch {
	case parts[0] == "agents":
		return "agents.mine", parts[2]
	case strings.HasPrefix(k.Name, "strategy.roles."):
		return "strategy.roles.tester", parts[3]
	}
	return strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
}

const exampleHead = `# codeloops.toml: every key with its default.
#
# Copy what you want to change, without the "#" before it, to codeloops.toml in
# your project or to $XDG_CONFIG_HOME/codeloops/config.toml, the global file.
# The first of these that sets a value wins:
#
#   flag > CODELOOPS_* variable > project file > global file > default
#
# The variable of a key is its name in capitals, as in CODELOOPS_MAX_ITERATIONS
# or CODELOOPS_ACTOR_TIMEOUT; an empty one counts as not set. In the global
# file, agent, model, max_iterations, [actor] and [critic] may also be in
# [defaults].

# What people set:
`

func tableHead(table string) string {
	switch table {
	case "policy":
		return "[policy] # in a project file this table needs trust\n"
	case "agents.mine":
	case "strategy.roles.tester":
		return `# A role of a strategy, with an agent and limits of its own. What is not set is
# taken from the actor if the role writes, and from the critic if it does not.
# The values here are samples. ` + "`codeloops strategies`" + ` names the roles of each
# strategy. Strategies with members also use every role that has an ` + "`about`" + `.
#[` + table + "]\n"
	default:
		return "[" + table + "]\n"
	}
	return `# An agent of your own, used with agent = "mine". The values here are samples,
# except for prompt and output, which show the defaults; only command is
# required. In a project file it needs trust.
#[` + table + "]\n"
}

// sample returns the setting's default, or its sample value, as TOML.
func (k Key) sample() string {
	text := tomlText(fileForm(k.Default))
	if strings.HasSuffix(k.Name, ".env.*") {
		return "{ NAME = " + text + " }"
	}
	if items, isList := k.Default.([]string); isList && len(text) > listWidth {
		return folded(items)
	}
	return text
}

// listWidth is the maximum length of a list on one line.
const listWidth = 60

// folded writes a list on several lines, commented out like the key.
func folded(items []string) string {
	var b strings.Builder
	b.WriteString("[")
	width := listWidth
	for _, item := range items {
		text := tomlText(item) + ","
		if width += 1 + len(text); width > listWidth {
			b.WriteString("\n#\t" + text)
			width = len(text)
			continue
		}
		b.WriteString(" " + text)
	}
	return b.String() + "\n#]"
}

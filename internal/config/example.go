package config

import (
	"strings"
)

// Example returns a configuration file that holds every key with its default
// and a description. The keys are commented out, so that a copy of it changes
// nothing and needs no trust: "# " begins a description, "#" a key or the lines
// of a long list.
func Example() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	table := ""
	for _, s := range newSchema(nil) {
		parent, name := s.place()
		b.WriteString("\n")
		if parent != table {
			table = parent
			b.WriteString(tableHead(table) + "\n")
		}
		for line := range strings.Lines(s.describe()) {
			b.WriteString("# " + line)
		}
		b.WriteString("#" + name + " = " + s.sample() + "\n")
	}
	return b.String()
}

const exampleHead = `# codeloops.toml: every key with its default. Generated from the code.
#
# Copy what you want to change, without the "#" before it, to codeloops.toml in
# your project or to $XDG_CONFIG_HOME/codeloops/config.toml, the global file.
# What is set in a higher place wins:
#
#   flag > CODELOOPS_* variable > project file > global file > default
#
# The variable of a key is its name in capitals, as in CODELOOPS_MAX_ITERATIONS
# or CODELOOPS_ACTOR_TIMEOUT; an empty one counts as not set. In the global
# file, agent, model, max_iterations, [actor] and [critic] may also stand in
# [defaults].
`

func tableHead(table string) string {
	if table != "agents.mine" {
		return "[" + table + "]\n"
	}
	return `# An agent of your own, used with agent = "mine". The values here are samples,
# but for prompt and output, which show the defaults; only command must be set.
# In a project file it needs trust.
#[` + table + "]\n"
}

// place returns the table that shows the setting, and its name there.
func (s setting) place() (table, name string) {
	parts := s.path()
	if parts[0] == "agents" {
		return "agents.mine", parts[2]
	}
	return strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
}

// describe returns the lines that explain the setting to a person.
func (s setting) describe() string {
	doc := s.doc + "\n"
	if s.flag != "" {
		doc += "Flag: " + s.flag + "\n"
	}
	return doc
}

// sample returns the setting's default, or its sample, as TOML.
func (s setting) sample() string {
	text := tomlText(fileForm(s.byDefault))
	if strings.HasSuffix(s.key, ".env.*") {
		return "{ NAME = " + text + " }"
	}
	if items, isList := s.byDefault.([]string); isList && len(text) > listWidth {
		return folded(items)
	}
	return text
}

// listWidth is how long a list in one line may be.
const listWidth = 60

// folded writes a list over several lines, commented out like the key.
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

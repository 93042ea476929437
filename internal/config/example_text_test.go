package config

import (
	"os"
	"strings"
	"testing"
)

const exampleFile = "../../codeloops.toml.example"

// exampleText returns a configuration file with every key, its default, and its
// description from the example. The keys are commented out, so that a copy changes
// nothing and needs no trust: "# " begins a description, "#" a key or a line of a long
// list.
func exampleText(tb testing.TB) string {
	tb.Helper()
	var b strings.Builder
	b.WriteString(exampleHead)
	table, known := "", descriptions(tb)
	for _, s := range newSchema() {
		parent, name := s.place()
		b.WriteString("\n")
		if parent != table {
			table = parent
			b.WriteString(tableHead(table) + "\n")
		}
		if known[table+"."+name] == "" {
			tb.Errorf("%s has no description", s.key)
		}
		b.WriteString(known[table+"."+name])
		if s.flag != "" {
			b.WriteString(flagLine + s.flag + "\n")
		}
		b.WriteString("#" + name + " = " + s.sample() + "\n")
	}
	return b.String()
}

// place returns the table of the setting, with sample names for "*", and its name there.
func (s setting) place() (table, name string) {
	parts := s.path()
	if parts[0] == "agents" {
		return "agents.mine", parts[2]
	}
	if strings.HasPrefix(s.key, roleKeys) {
		return roleKeys + "tester", parts[3]
	}
	return strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
}

const flagLine = "# Flag: "

// descriptions returns the comment lines above each key in the example, by table and
// name.
func descriptions(tb testing.TB) map[string]string {
	tb.Helper()
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		tb.Fatal(err)
	}
	all, table, above := map[string]string{}, "", ""
	for line := range strings.Lines(string(text)) {
		name, _, isKey := strings.Cut(strings.TrimPrefix(line, "#"), " = ")
		switch head := strings.Trim(line, "#[]\n"); {
		case strings.HasPrefix(line, flagLine):
		case strings.HasPrefix(line, "# "):
			above += line
		case strings.HasPrefix(line, "[") || strings.HasPrefix(line, "#["):
			table, above = head, ""
		case isKey && line[0] == '#':
			all[table+"."+name], above = above, ""
		default:
			above = ""
		}
	}
	return all
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
`

func tableHead(table string) string {
	switch table {
	case "agents.mine":
	case roleKeys + "tester":
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

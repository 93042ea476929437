package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Reference writes a page of Markdown on a command and all below it.
func Reference(w io.Writer, root *cobra.Command) error {
	var b strings.Builder
	b.WriteString("# The command line\n\nMade from the help of each command by `make golden`: do not edit it here.\n\n")
	visit(root, func(cmd *cobra.Command) {
		fmt.Fprintf(&b, "- [`%s`](#%s): %s\n", cmd.CommandPath(), strings.ReplaceAll(cmd.CommandPath(), " ", "-"), cell(cmd.Short))
	})
	visit(root, func(cmd *cobra.Command) { refer(&b, cmd) })
	_, err := io.WriteString(w, b.String())
	return err
}

// visit calls a function with a command and those below it that are told of. What a shell
// is to read is Cobra's own, and is told by its parent.
func visit(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		if (below.IsAvailableCommand() || below.Name() == "help") && cmd.Name() != "completion" {
			visit(below, do)
		}
	}
}

// refer writes the part of one command.
func refer(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n", cmd.CommandPath())
	for _, p := range paragraphs(longHelp(cmd)) {
		if p.block {
			fmt.Fprintf(b, "```text\n%s\n```\n\n", p.text)
			continue
		}
		b.WriteString(strings.Join(strings.Fields(strings.ReplaceAll(p.text, "<", "&lt;")), " ") + "\n\n")
	}
	fmt.Fprintf(b, "```text\n%s\n```\n", cmd.UseLine())
	for _, g := range groups(cmd) {
		fmt.Fprintf(b, "\n| %s | |\n|---|---|\n", g.heading)
		for _, f := range g.flags {
			_, does := told(f)
			fmt.Fprintf(b, "| `%s` | %s |\n", cell(strings.TrimSpace(typed(f))), cell(does))
		}
	}
	if exits := ExitsOf(cmd); len(exits) > 0 {
		b.WriteString("\n| exit status | |\n|---|---|\n")
		for _, e := range exits {
			fmt.Fprintf(b, "| %d | %s |\n", e.Code, cell(e.Meaning))
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", unindented(cmd.Example))
	}
}

// cell is a text that can stand in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// unindented takes two blanks from the beginning of each line.
func unindented(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return strings.Join(lines, "\n")
}

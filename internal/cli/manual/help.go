package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// widest is the maximum width of prose, however wide the screen is.
const widest = 100

// A Screen lays out help.
type Screen struct {
	Columns int
	Heading func(string) string // styles a heading
}

func (s Screen) width() int { return min(max(s.Columns, 40), widest) }

// Help writes the help of a command, with the paragraph more at its end unless that is empty.
func (s Screen) Help(w io.Writer, cmd *cobra.Command, more string) error {
	var b strings.Builder
	section := func(title string) { fmt.Fprintf(&b, "\n%s\n", s.Heading(title+":")) }
	b.WriteString(s.prose(longHelp(cmd)))
	section("Usage")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.Example != "" {
		section("Examples")
		b.WriteString(strings.TrimRight(cmd.Example, "\n") + "\n")
	}
	for _, g := range chapters(cmd) {
		if g.commands != nil {
			section(g.heading)
		}
		for _, below := range g.commands {
			b.WriteString(s.row("  "+below.Name(), 14, below.Short))
		}
	}
	for _, g := range groups(cmd) {
		section(g.heading)
		for _, f := range g.flags {
			_, does := told(f)
			b.WriteString(s.row("  "+typed(f), 30, does))
		}
	}
	if exits := ExitsOf(cmd); len(exits) > 0 {
		section("Exit status")
		for _, e := range exits {
			b.WriteString(s.row(fmt.Sprintf("  %-4d", e.Code), 7, e.Meaning))
		}
	}
	if more != "" {
		b.WriteString("\n" + s.prose(more))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// row lays out a name, and its description in a column.
func (s Screen) row(name string, column int, says string) string {
	var b strings.Builder
	b.WriteString(name)
	at := utf8.RuneCountInString(name)
	if s.width() < 2*column { // no room for two columns
		column = 6
	}
	if at >= column {
		b.WriteString("\n")
		at = 0
	}
	for i, line := range wrap(says, s.width()-column) {
		if i > 0 {
			at = 0
		}
		b.WriteString(strings.Repeat(" ", column-at) + line + "\n")
	}
	return b.String()
}

// prose wraps paragraphs, but leaves blocks with indented lines as they are.
func (s Screen) prose(text string) string {
	var b strings.Builder
	for i, part := range paragraphs(text) {
		if i > 0 {
			b.WriteString("\n")
		}
		if part.block {
			b.WriteString(part.text + "\n")
			continue
		}
		for _, line := range wrap(part.text, s.width()) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// A paragraph of a text; the lines of a block are not wrapped.
type paragraph struct {
	text  string
	block bool
}

// paragraphs splits a text at empty lines.
func paragraphs(text string) (all []paragraph) {
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		part = strings.Trim(part, "\n")
		all = append(all, paragraph{part, strings.HasPrefix(part, " ") || strings.Contains(part, "\n ")})
	}
	return all
}

// wrap splits a text into lines of at most width characters; a longer word gets its own
// line.
func wrap(text string, width int) (lines []string) {
	line, n := "", 0
	for word := range strings.FieldsSeq(text) {
		more := utf8.RuneCountInString(word)
		if n > 0 && n+1+more > width {
			lines = append(lines, line)
			line, n = "", 0
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+word, n+more
	}
	return append(lines, line)
}

// A chapter is a heading with its commands.
type chapter struct {
	heading  string
	commands []*cobra.Command
}

// chapters returns the subcommands by group.
func chapters(cmd *cobra.Command) (all []chapter) {
	rest := &cobra.Group{Title: "Commands"}
	if len(cmd.Groups()) > 0 {
		rest.Title = "Other commands"
	}
	for _, g := range append(slices.Clip(cmd.Groups()), rest) {
		c := chapter{heading: g.Title}
		for _, below := range cmd.Commands() {
			if below.GroupID == g.ID && (below.IsAvailableCommand() || below.Name() == "help") {
				c.commands = append(c.commands, below)
			}
		}
		all = append(all, c)
	}
	return all
}

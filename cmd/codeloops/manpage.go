package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A manPage writes the manual page of one command in roff, with the macros that
// man(7) describes. Cobra's own way there leads over Markdown: it takes exit
// codes that stand below each other for one paragraph, and its parser makes
// every start of the program longer.
type manPage struct {
	strings.Builder
}

// writeManPage writes the page of a command.
func writeManPage(w io.Writer, cmd *cobra.Command) error {
	cmd.InitDefaultHelpFlag() // as when it is run
	p := &manPage{}
	name := manName(cmd)
	p.linef(`.TH %q 1 %q codeloops codeloops`, strings.ToUpper(name), manDate)
	p.linef(".nh") // what can be typed is not divided
	p.section("Name")
	p.linef(`%s \- %s`, roff(name), roff(cmd.Short))
	p.section("Synopsis")
	p.linef(`.B %s`, roff(cmd.UseLine()))
	p.section("Description")
	p.text(longHelp(cmd))
	p.options("Options", cmd.NonInheritedFlags())
	p.options("Options of all commands", cmd.InheritedFlags())
	if cmd.Example != "" {
		p.section("Examples")
		p.block(cmd.Example)
	}
	p.seeAlso(cmd)
	_, err := io.WriteString(w, p.String())
	return err
}

// manName is the name of a command's page: codeloops-sessions-list.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func longHelp(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}

func (p *manPage) linef(format string, args ...any) {
	fmt.Fprintf(&p.Builder, format+"\n", args...)
}

func (p *manPage) section(title string) { p.linef(".SH %s", strings.ToUpper(title)) }

// text writes help as it is meant: paragraphs, and blocks in which lines are
// indented, which stay as they are.
func (p *manPage) text(help string) {
	for i, part := range strings.Split(strings.TrimSpace(help), "\n\n") {
		if i > 0 {
			p.linef(".PP")
		}
		if strings.Contains(part, "\n ") {
			p.block(part)
			continue
		}
		for line := range strings.Lines(part) {
			p.linef("%s", roff(strings.TrimRight(line, "\n")))
		}
	}
}

func (p *manPage) block(text string) {
	p.linef(".nf")
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		p.linef("%s", roff(strings.TrimRight(line, "\n")))
	}
	p.linef(".fi")
}

func (p *manPage) options(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.section(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		line := fmt.Sprintf(`\fB%s\fP`, roff("--"+f.Name))
		if f.Shorthand != "" {
			line = fmt.Sprintf(`\fB%s\fP, `, roff("-"+f.Shorthand)) + line
		}
		if value != "" {
			line += fmt.Sprintf(` \fI%s\fP`, roff(value))
		}
		// What is no default is the value that says so.
		if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		p.linef(".TP\n%s\n%s", line, roff(usage))
	})
}

func (p *manPage) seeAlso(cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, manName(cmd.Parent()))
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			pages = append(pages, manName(below))
		}
	}
	if len(pages) == 0 {
		return
	}
	p.section("See also")
	for i, page := range pages {
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		p.linef(`.BR %s (1)%s`, roff(page), comma)
	}
}

// roff makes a line stand for itself: no escapes, no request at its beginning,
// and hyphens that can be copied as the minus signs they are.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `"`, `\(dq`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}

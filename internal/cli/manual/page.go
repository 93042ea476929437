// Package manual lays out help and manual pages.
package manual

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// date is the date on the pages: fixed, so that builds are reproducible.
const date = "2026-01-01"

// A page is the manual page of one command in roff, with the macros of man(7). Cobra's
// generator goes through Markdown: it joins the lines of exit codes into a paragraph, and
// its parser makes every start of the program slower.
type page struct {
	strings.Builder
}

// Write writes the page of a command.
func Write(w io.Writer, cmd *cobra.Command) error {
	p := &page{}
	name := Name(cmd)
	p.linef(`.TH %q 1 %q codeloops codeloops`, strings.ToUpper(name), date)
	p.linef(".nh") // no hyphenation in commands
	p.section("Name")
	p.linef(`%s \- %s`, roff(name), roff(cmd.Short))
	p.section("Synopsis")
	p.linef(`.B %s`, roff(cmd.UseLine()))
	p.section("Description")
	p.text(longHelp(cmd))
	p.options(groups(cmd))
	if exits := ExitsOf(cmd); len(exits) > 0 {
		p.section("Exit status")
		for _, e := range exits {
			p.linef(".TP\n%d\n%s", e.Code, roff(e.Meaning))
		}
	}
	if cmd.Example != "" {
		p.section("Examples")
		p.block(cmd.Example)
	}
	p.seeAlso(cmd)
	_, err := io.WriteString(w, p.String())
	return err
}

// Pages writes the pages of a command and its subcommands into a directory.
func Pages(dir string, cmd *cobra.Command) error {
	var page strings.Builder
	err := Write(&page, cmd)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, Name(cmd)+".1"), []byte(page.String()), 0o644) //nolint:gosec // for everybody
	}
	if err != nil {
		return fmt.Errorf("write the manual page of %s: %w", cmd.CommandPath(), err)
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			err = errors.Join(err, Pages(dir, below))
		}
	}
	return err
}

// Name is the name of a command's page: codeloops-sessions-list.
func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func longHelp(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}

func (p *page) linef(format string, args ...any) {
	fmt.Fprintf(&p.Builder, format+"\n", args...)
}

func (p *page) section(title string) { p.linef(".SH %s", strings.ToUpper(title)) }

// text writes the paragraphs of help, and blocks with indented lines unchanged.
func (p *page) text(help string) {
	for i, part := range paragraphs(help) {
		if i > 0 {
			p.linef(".PP")
		}
		if part.block {
			p.block(part.text)
			continue
		}
		for line := range strings.Lines(part.text) {
			p.linef("%s", roff(strings.TrimRight(line, "\n")))
		}
	}
}

func (p *page) block(text string) {
	p.linef(".nf")
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		p.linef("%s", roff(strings.TrimRight(line, "\n")))
	}
	p.linef(".fi")
}

// options lists flags by group; a single group needs no heading.
func (p *page) options(all []group) {
	p.section("Options")
	for _, g := range all {
		if len(all) > 1 {
			p.linef(".SS %s", roff(g.heading))
		}
		for _, f := range g.flags {
			value, does := told(f)
			line := fmt.Sprintf(`\fB%s\fP`, roff("--"+f.Name))
			if f.Shorthand != "" {
				line = fmt.Sprintf(`\fB%s\fP, `, roff("-"+f.Shorthand)) + line
			}
			if value != "" {
				line += fmt.Sprintf(` \fI%s\fP`, roff(value))
			}
			p.linef(".TP\n%s\n%s", line, roff(does))
		}
	}
}

func (p *page) seeAlso(cmd *cobra.Command) {
	var pages []string
	add := func(of *cobra.Command) { pages = append(pages, fmt.Sprintf(`.BR %s (1)`, roff(Name(of)))) }
	if cmd.HasParent() {
		add(cmd.Parent())
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			add(below)
		}
	}
	if len(pages) > 0 {
		p.section("See also")
		p.linef("%s", strings.Join(pages, ",\n"))
	}
}

// roff escapes a line: no escape sequences, no request at its beginning, and hyphens that
// can be copied as minus signs.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `"`, `\(dq`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}

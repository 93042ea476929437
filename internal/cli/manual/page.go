// Package manual tells how commands are used: help, manual pages.
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

// date is the one on the pages: fixed, so that the same source gives the same pages.
const date = "2026-01-01"

// A page is the manual page of one command in roff, with the macros that
// man(7) describes. Cobra's own way there leads over Markdown: it takes exit
// codes that stand below each other for one paragraph, and its parser makes
// every start of the program longer.
type page struct {
	strings.Builder
}

// Write writes the page of a command.
func Write(w io.Writer, cmd *cobra.Command) error {
	p := &page{}
	name := Name(cmd)
	p.linef(`.TH %q 1 %q codeloops codeloops`, strings.ToUpper(name), date)
	p.linef(".nh") // what can be typed is not divided
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

// Pages writes the pages of a command and of those below it into a directory.
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

// text writes help as it is meant: paragraphs, and blocks in which lines are
// indented, which stay as they are.
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

// options tells of flags below their headings; a single one needs no other than its own.
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
	if cmd.HasParent() {
		pages = append(pages, Name(cmd.Parent()))
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			pages = append(pages, Name(below))
		}
	}
	if len(pages) == 0 {
		return
	}
	p.section("See also")
	for i, one := range pages {
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		p.linef(`.BR %s (1)%s`, roff(one), comma)
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

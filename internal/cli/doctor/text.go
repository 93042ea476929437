package doctor

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/run/crew"
	"codeloops/internal/screen/term"
)

const (
	red   = lipgloss.Color("1")
	green = lipgloss.Color("2")
)

// Text lays findings out for a person.
func Text(findings []Finding, styles *lipgloss.Renderer) string {
	good, bad := styles.NewStyle().Foreground(green), styles.NewStyle().Foreground(red)
	var b strings.Builder
	for _, f := range findings {
		mark := good.Render("ok  ")
		switch {
		case !f.OK && f.Aside:
			mark = bad.Render("no  ")
		case !f.OK:
			mark = bad.Render("FAIL")
		}
		fmt.Fprintf(&b, "%s  %-14s %s\n", mark, f.What, term.Line(f.Detail))
		if f.Hint != "" {
			fmt.Fprintf(&b, "      %-14s hint: %s\n", "", term.Line(f.Hint))
		}
	}
	return b.String()
}

// AgentsText lays out what there is to know of agents for a person.
func AgentsText(rows []crew.Row, styles *lipgloss.Renderer) string {
	good, faint := styles.NewStyle().Foreground(green), styles.NewStyle().Faint(true)
	var b strings.Builder
	for _, r := range rows {
		state, tested := faint.Render("not installed"), "described, not tested"
		if r.Path != "" {
			state = good.Render("installed") + "  " + r.Path
		}
		if r.Tested != "" {
			tested = "tested with " + r.Tested
		}
		fmt.Fprintf(&b, "%-10s %s%s\n", r.Name, state, faint.Render("  ("+tested+")"))
		fmt.Fprintf(&b, "           actor   %s\n", term.Line(strings.Join(r.Actor, " ")))
		fmt.Fprintf(&b, "           critic  %s\n", term.Line(strings.Join(r.Critic, " ")))
		if r.Path == "" && r.Install != "" {
			fmt.Fprintf(&b, "           %s\n", term.Line(r.Install))
		}
	}
	return b.String()
}

package sessionview

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

func (d *Details) sayf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.Out, format+"\n", args...)
	}
}

func (d *Details) rowf(name, format string, args ...any) {
	d.sayf("  %-10s %s", name, fmt.Sprintf(format, args...))
}

// block writes the first lines of a text, or all of it, under a heading.
func (d *Details) block(heading, text string, most int) {
	d.lines(heading, text, render.Excerpt(text, most, d.Screen.Width-6))
}

// ending writes the last lines of a text, or all of it.
func (d *Details) ending(text string, most int) {
	d.lines("", text, render.Tail(text, most, d.Screen.Width-6))
}

func (d *Details) lines(heading, text string, lines []string) {
	if d.Full {
		lines = strings.Split(strings.TrimRight(term.Clean(text), "\n"), "\n")
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if heading != "" {
		d.sayf("  %s", d.Screen.faint(heading))
	}
	for _, line := range lines {
		d.sayf("%s", strings.TrimRight("    "+line, " "))
	}
}

func (d *Details) leftovers(t loop.Turn) {
	for _, p := range t.Leftovers {
		d.rowf("", "left running, ended: %s", term.Line(p.Command))
	}
}

func (d *Details) missed(t loop.Turn) {
	for _, line := range render.Misses(t) {
		d.rowf("", "%s", line)
	}
}

func (d *Details) omitted(o loop.Output) {
	if o.Omitted > 0 {
		d.sayf("    %s", d.Screen.faint(fmt.Sprintf("%d of %d bytes are not in the log; all of it: %s", o.Omitted, o.Total, term.Line(o.File))))
	}
}

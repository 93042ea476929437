package main

import (
	"fmt"
	"io"
	"strings"

	"codeloops/internal/run"
	"codeloops/internal/screen/term"
)

// promptShown is how much of the prompt a dry run repeats, in bytes.
const promptShown = 2000

// describe writes what the plan would do.
func (r *runCommand) describe(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %d bytes from %s\n", "prompt", len(r.prompt), r.from)
	for _, f := range run.Describe(r.plan) {
		fmt.Fprintf(&b, "%-12s %s\n", f.About, term.Line(f.Text))
	}
	text := r.prompt
	if len(text) > promptShown {
		text = strings.ToValidUTF8(text[:promptShown], "") + "\n…"
	}
	fmt.Fprintf(&b, "\n%s\n", term.Clean(strings.TrimRight(text, "\n")))
	_, err := io.WriteString(w, r.app.Secrets.String(b.String()))
	return err
}

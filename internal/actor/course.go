package actor

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// maxFindings bounds the list of findings, in bytes.
const maxFindings = 8 << 10

// findings shows the points that the reviewer has raised more than once, or late, and names those that are settled.
func findings(p *strings.Builder, all []loop.Finding) {
	var b strings.Builder
	var settled []string
	for _, f := range all {
		if f.State.Over() {
			settled = append(settled, f.ID)
		}
		if f.May {
			continue
		}
		switch f.State {
		case loop.FindingOpen:
			fmt.Fprintf(&b, "%s, since iteration %d: %s\n", f.ID, f.Since, wording.Line(f.Text))
		case loop.FindingReopened:
			fmt.Fprintf(&b, "%s, since iteration %d, was gone in between: %s\n", f.ID, f.Since, wording.Line(f.Text))
		case loop.FindingNew:
			if f.Late {
				fmt.Fprintf(&b, "%s, late, on lines that you had not changed since the last review: %s\n", f.ID, wording.Line(f.Text))
			}
		case loop.FindingUnmentioned, loop.FindingClosed, loop.FindingWithdrawn:
		}
	}
	if b.Len() > 0 {
		p.WriteString("\nThese points were raised before and are not settled:\n\n")
		p.WriteString(prompt.Fenced(prompt.Clip(b.String(), maxFindings, maxFindings)))
	}
	if len(settled) > 0 {
		fmt.Fprintf(p, "\nThe reviewer has settled %s.\n", strings.Join(settled, ", "))
	}
}

// warnings shows the signs that the loop makes no progress.
func warnings(p *strings.Builder, all []string) {
	if len(all) == 0 {
		return
	}
	var b strings.Builder
	for _, w := range all {
		fmt.Fprintf(&b, "- %s\n", wording.Line(w))
	}
	p.WriteString("\nThe loop seems to make no progress; the reviewer is told the same:\n\n")
	p.WriteString(prompt.Fenced(prompt.Clip(b.String(), maxFindings, maxFindings)))
	p.WriteString("\nIf this continues, the run ends. Try another way than before. If you cannot do what is asked, say exactly what is in the way.\n")
}

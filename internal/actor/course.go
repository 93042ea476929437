package actor

import (
	"fmt"
	"strings"

	"codeloops/internal/critic/excerpt"
	"codeloops/internal/loop"
	"codeloops/internal/plain"
)

// maxFindings bounds the list of findings, in bytes.
const maxFindings = 8 << 10

// findings shows what the reviewer has raised more than once.
func findings(p *strings.Builder, all []loop.Finding) {
	var b strings.Builder
	for _, f := range all {
		switch f.State {
		case loop.FindingOpen:
			fmt.Fprintf(&b, "%s, since iteration %d: %s\n", f.ID, f.Since, oneLine(f.Text))
		case loop.FindingReopened:
			fmt.Fprintf(&b, "%s, since iteration %d, had gone in between: %s\n", f.ID, f.Since, oneLine(f.Text))
		case loop.FindingNew, loop.FindingUnmentioned, loop.FindingClosed, loop.FindingWithdrawn:
		}
	}
	if b.Len() == 0 {
		return
	}
	p.WriteString("\nOf that, these points were raised before and are not settled:\n\n")
	fence(p, excerpt.Clip(b.String(), maxFindings, maxFindings))
}

// warnings tells of signs that the loop does not get on.
func warnings(p *strings.Builder, all []string) {
	if len(all) == 0 {
		return
	}
	var b strings.Builder
	for _, w := range all {
		fmt.Fprintf(&b, "- %s\n", oneLine(w))
	}
	p.WriteString("\nThe loop does not seem to get on; the reviewer is told the same:\n\n")
	fence(p, excerpt.Clip(b.String(), maxFindings, maxFindings))
	p.WriteString("\nIf it goes on like this the run is ended. Do it another way than before, and where you cannot do what is asked, say exactly what is in the way.\n")
}

func oneLine(text string) string { return strings.Join(strings.Fields(plain.Text(text)), " ") }

package limits

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/tamper"
)

// Tamper lists what weakens the project's tests, or the tools that watch over
// it, for the critic and the user.
type Tamper struct {
	Detector *tamper.Detector // nil: nothing is looked for
	Block    bool             // it is a breach as well
}

// Name implements [policy.Inspector].
func (Tamper) Name() string { return RuleTamper }

const maxSigns = 40 // that are told one by one

// Inspect implements [policy.Inspector].
func (t Tamper) Inspect(c loop.Case, found *loop.Inspection) *policy.Breach {
	var signs []tamper.Sign
	if t.Detector != nil {
		signs = t.Detector.Inspect(c.Change)
	}
	if len(signs) == 0 {
		return nil
	}
	var told []string
	for _, s := range signs[:min(maxSigns, len(signs))] {
		told = append(told, s.String())
	}
	if rest := len(signs) - maxSigns; rest > 0 {
		told = append(told, fmt.Sprintf("%d more places like these", rest))
	}
	for _, text := range told {
		found.Concerns = append(found.Concerns, loop.Concern{Rule: RuleTamper, Text: text})
	}
	if !t.Block {
		return nil
	}
	return &policy.Breach{
		Why: "tests, or what watches over them, were weakened: " + told[0] + others(len(signs)-1),
		Feedback: "Tests and what watches over them may not be weakened. Put these back as they were, and change the code instead:\n- " +
			strings.Join(told, "\n- "),
	}
}

func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}

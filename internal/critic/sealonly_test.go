package critic_test

import (
	"strings"
	"testing"

	"codeloops/internal/agent"
	"codeloops/internal/agent/seat"
	"codeloops/internal/critic"
	"codeloops/internal/loop"
)

// TestSealOnly: a plain DONE does not count for an agent that does not tell when an answer was
// cut off.
func TestSealOnly(t *testing.T) {
	t.Parallel()
	for text, counts := range map[string]bool{
		"DECISION: DONE\nSUMMARY: a":                              false,
		"DECISION: DONE\nSUMMARY: a\nSEAL: " + firstSeal:          true,
		"DECISION: CONTINUE\nFEEDBACK: two tests fail, see the l": true,
	} {
		reply := answer(text)
		reply.SealOnly = true
		c := critic.Critic{ReadOnlyPlayer: seat.ReadOnlyPlayer{Agent: &answering{replies: []agent.Reply{reply}}}, Dir: t.TempDir(), Random: &counting{}}
		got, err := c.Judge(t.Context(), loop.Case{Iteration: 1, Task: "work"}, nil)
		if err != nil || (got.Problem == "") != counts || !counts && !strings.Contains(got.Problem, "lacks the seal") {
			t.Errorf("%q: %v, %q", text, err, got.Problem)
		}
	}
}

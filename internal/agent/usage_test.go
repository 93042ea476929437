package agent

import (
	"path/filepath"
	"testing"

	"codeloops/internal/loop"
)

// TestUsageFile: token counts are read from a file that a CLI writes beside its output.
func TestUsageFile(t *testing.T) {
	t.Parallel()
	s := newStage(t, "copilot")
	s.speaks("copilot-json")
	for _, access := range []loop.Access{loop.Write, loop.ReadOnly} {
		reply, _ := s.play(s.agent(known("copilot"), ""), Request{Access: access, Iteration: 1})
		if reply.Usage.Tokens == nil || *reply.Usage.Tokens != (loop.Tokens{Input: 700, CacheRead: 300, Output: 20}) {
			t.Errorf("the tokens of a %s turn are %+v", access, reply.Usage.Tokens)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.place.Outputs, "*.usage")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

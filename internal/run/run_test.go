package run

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/wording/hint"
)

// TestLost: the error for a file that disappears during a run hints at the agent.
func TestLost(t *testing.T) {
	t.Parallel()
	const agent = "it was there when the run began: was it the agent?"
	for err, want := range map[error]string{
		diff.ErrNotRepository:                  agent,
		fs.ErrNotExist:                         agent,
		fs.ErrPermission:                       "",
		hint.Add(fs.ErrNotExist, "look there"): "look there",
	} {
		got := withLossHint(fmt.Errorf("capture the diff: %w", err))
		if text, _ := hint.Of(got); text != want || !errors.Is(got, err) {
			t.Errorf("%v: the hint is %q", err, text)
		}
	}
	if withLossHint(nil) != nil {
		t.Error("nil became an error")
	}
}

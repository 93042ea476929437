package policy

import (
	"context"
	"fmt"
	"strings"

	"codeloops/internal/critique"
	"codeloops/internal/loop"
)

// An Editor writes files of the work tree, too.
type Editor interface {
	Files
	// Write replaces the content of a regular file that is there, and leaves its
	// mode.
	Write(path string, content []byte) error
}

// A Mender is a [loop.Actor] that makes required changes by itself, by rote, in
// the turn for which a [Required] has found that the actor does not make them.
// The other turns are the actor's.
type Mender struct {
	loop.Actor
	Files Editor
}

// Act implements [loop.Actor].
func (m Mender) Act(ctx context.Context, b loop.Brief, watch loop.Watch) (loop.Attempt, error) {
	if b.Previous == nil || b.Previous.Rule != RuleFallback {
		return m.Actor.Act(ctx, b, watch)
	}
	said, err := m.mend(*b.Previous)
	if err != nil {
		return loop.Attempt{}, fmt.Errorf("make the required changes: %w", err)
	}
	if watch != nil {
		watch(loop.Notice{Kind: loop.NoticeMessage, Text: strings.Join(strings.Fields(said), " ")})
	}
	return loop.Attempt{Turn: loop.Turn{
		Stdout: loop.Output{Text: said, Total: int64(len(said))}, Ending: loop.EndCompleted,
		Usage: loop.Usage{Tokens: &loop.Tokens{}, CostUSD: new(float64), Rounds: new(int)}, // no model was asked
	}}, nil
}

func (m Mender) mend(round loop.Round) (said string, err error) {
	path, ok := onlyText(round.Change)
	if !ok {
		return "codeloops could not make the required changes by itself: more has changed than one text file.\n", nil
	}
	changes, err := critique.Changes(round.Verdict.RequiredChanges)
	if err != nil {
		return "", err
	}
	text, err := m.Files.Read(path)
	if err != nil {
		return "", err
	}
	if err := m.Files.Write(path, []byte(critique.Apply(string(text), changes))); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "codeloops made the required changes in %s by itself:\n", path)
	for _, c := range changes {
		fmt.Fprintf(&b, "- %s\n", c.Text)
	}
	return b.String(), nil
}

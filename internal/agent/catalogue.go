package agent

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/spell"
)

// Catalogue returns the CLIs that codeloops knows, in the order in which to
// list them. The caller owns what it gets.
func Catalogue() []Spec {
	return []Spec{
		claude(), codex(), opencode(), gemini(), qwen(), copilot(), cursor(), pi(), cline(),
		cn(), droid(), kilo(), claudeGateway(), amp(), auggie(), goose(), crush(),
	}
}

// An UnknownError is a name that no agent has.
type UnknownError struct {
	Name    string
	Nearest string   // the known name that was probably meant; "" when none is close
	Known   []string // every name that would do, aliases apart
}

// Error implements error.
func (e *UnknownError) Error() string { return fmt.Sprintf("no agent is named %q", e.Name) }

// Hint returns what to do about it.
func (e *UnknownError) Hint() string {
	if e.Nearest != "" {
		return fmt.Sprintf("did you mean %q?", e.Nearest)
	}
	return "the agents are " + strings.Join(e.Known, ", ")
}

// Find returns the agent of a name or alias: one of own, the user's, before
// one of the catalogue. The error is an [*UnknownError].
func Find(name string, own ...Spec) (Spec, error) {
	unknown := &UnknownError{Name: name}
	var names []string
	for _, s := range append(slices.Clone(own), Catalogue()...) {
		known := append([]string{s.Name}, s.Aliases...)
		if slices.Contains(known, name) {
			return s, nil
		}
		unknown.Known = append(unknown.Known, s.Name)
		names = append(names, known...)
	}
	unknown.Nearest, _ = spell.Nearest(name, names)
	return Spec{}, unknown
}

package transcript

import (
	"maps"
	"slices"
	"time"

	"codeloops/internal/loop"
)

// A Report is what an output says of its turn.
type Report struct {
	// Spoken is set when at least one event of the format was there. Without
	// any, the output is something else and the rest of the report is empty.
	Spoken bool
	// Text is the agent's final message.
	Text string
	// Said are all of the agent's messages, with an empty line between two;
	// Total and Omitted count their bytes.
	Said loop.Output

	Conversation string // the agent's own name for its session
	Usage        loop.Usage

	// Ending is EndCompleted, or what the agent says was in its way: Reason is
	// then its own words, in one line of at most 4 KiB. An output that breaks off is EndFailed, one that is
	// whole and holds no final message EndEmpty.
	Ending  loop.Ending
	Reason  string
	ResetAt time.Time // when a limit ends; zero when it does not say

	// Answered is set when the reason is an answer of the model's service.
	Answered bool `json:",omitempty"`

	// Problem is a fault that the agent was still trying to get over.
	Problem string
	// Coping is what that is where it is the service's: an ending that the turn
	// would have had. "": it is something else.
	Coping loop.Ending `json:",omitempty"`
	// Plain are the last lines that are no JSON, cleaned.
	Plain []string
}

// A dialect knows the events of one format.
type dialect interface {
	// event takes one event and reports whether it is one of the format's. The
	// object is valid until it returns; of a line that is too long it holds
	// nothing but the type.
	event(kind string, object []byte) bool
}

// dialects makes the dialect of each format.
func dialects() map[string]func(*record) dialect {
	return map[string]func(*record) dialect{
		"claude-stream-json": func(r *record) dialect { return &claude{record: r} },
		"cline-json":         func(r *record) dialect { return &cline{record: r} },
		"codex-json":         func(r *record) dialect { return &codex{record: r} },
		"copilot-json":       func(r *record) dialect { return &copilot{record: r} },
		"droid-stream-json":  func(r *record) dialect { return &droid{record: r} },
		"gemini-stream-json": func(r *record) dialect { return &gemini{record: r} },
		"opencode-json":      func(r *record) dialect { return &opencode{record: r} },
		"pi-json":            func(r *record) dialect { return &pi{record: r} },
		"qwen-stream-json":   func(r *record) dialect { return &claude{record: r, openAI: true} },
	}
}

// TellsCost reports whether an output of a format says what its turn has cost.
func TellsCost(format string) bool {
	return slices.Contains([]string{"claude-stream-json", "cline-json", "opencode-json", "pi-json"}, format)
}

// Formats returns the names of the formats, sorted.
func Formats() []string { return slices.Sorted(maps.Keys(dialects())) }

package transcript

import (
	"maps"
	"slices"
	"time"

	"codeloops/internal/loop"
)

// A Report is what an output says about its turn.
type Report struct {
	// Spoken is set when there was at least one event of the format. Without any, the
	// output is something else and the rest of the report is empty.
	Spoken bool
	// Text is the agent's final message.
	Text string
	// Said are all of the agent's messages, separated by empty lines.
	Said loop.Output

	Conversation string // the agent's own name for its session
	Usage        loop.Usage
	// Running is set when Usage holds only what single messages have told, because the
	// closing event is missing.
	Running bool `json:"-"`

	// Ending is EndCompleted, or what the agent says went wrong; Reason is then in its
	// own words, as one line of at most 4 KiB. It is EndFailed for an output that breaks
	// off, EndEmpty for a whole one without a final message.
	Ending  loop.Ending
	Reason  string
	ResetAt time.Time // when a limit ends; zero if unknown

	// Failures are commands that failed, and what was not allowed; a few at most.
	Failures []loop.Failure `json:",omitempty"`

	// Futile is set when tools were used, and each time they failed or were denied.
	Futile bool `json:",omitempty"`

	// Answered is set when the reason is an answer of the model's service.
	Answered bool `json:",omitempty"`

	// Closed is set when the closing event has come: whatever ends the agent after it does
	// not cut the turn short.
	Closed bool `json:"-"`

	// Spinning is set when the agent asked its model again and again, and nothing came of it;
	// Problem says so.
	Spinning bool `json:"-"`

	// Problem is a problem that the agent was still trying to overcome.
	Problem string
	// Coping is the ending that Problem would have been, if it was an answer of the
	// service; "" otherwise.
	Coping loop.Ending `json:",omitempty"`
	// Plain are the last lines that are not JSON, cleaned.
	Plain []string
}

// A dialect knows the events of one format.
type dialect interface {
	// event takes one event and reports whether it belongs to the format. The object is
	// valid until it returns; for a line that is too long it only holds the type.
	event(kind string, object []byte) bool
}

// dialects maps each format to the constructor of its dialect.
func dialects() map[string]func(*record) dialect {
	return map[string]func(*record) dialect{
		ACP:                  func(r *record) dialect { return &acp{record: r, shown: map[string]bool{}} },
		"claude-stream-json": func(r *record) dialect { return &claude{record: r, spent: map[string]loop.Tokens{}} },
		"cline-json":         func(r *record) dialect { return &cline{record: r} },
		"codex-json":         func(r *record) dialect { return &codex{record: r} },
		"copilot-json":       func(r *record) dialect { return &copilot{record: r} },
		"droid-stream-json":  func(r *record) dialect { return &droid{record: r} },
		DroidRPC:             func(r *record) dialect { return &droidRPC{record: r} },
		"gemini-stream-json": func(r *record) dialect { return &gemini{record: r} },
		"opencode-json":      func(r *record) dialect { return &opencode{record: r} },
		"pi-json":            func(r *record) dialect { return &pi{record: r} },
		"qwen-stream-json":   func(r *record) dialect { return &claude{record: r, spent: map[string]loop.Tokens{}, openAI: true} },
	}
}

// TellsCost reports whether a format includes the cost of a turn.
func TellsCost(format string) bool {
	return slices.Contains([]string{"claude-stream-json", "cline-json", "opencode-json", "pi-json"}, format)
}

// Formats returns the names of the formats that a program prints without being asked for more,
// sorted.
func Formats() []string {
	all := dialects()
	delete(all, ACP)
	delete(all, DroidRPC)
	return slices.Sorted(maps.Keys(all))
}

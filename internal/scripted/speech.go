package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// A speech is what a turn prints to standard output as the agent's own words:
// plain lines, or the events of a structured format.
type speech struct {
	out    io.Writer
	tongue tongue // the zero value: plain lines
	opened bool
	final  string // the last message
}

// A closing is how a turn ends, for those formats that say so.
type closing struct {
	final  string
	usage  *usage // nil: not told
	fault  string // one of faults; "": none
	reason string
	reset  time.Time // when a limit ends; zero: not told
}

// A usage is what a turn costs.
type usage struct {
	input, output, cacheRead int
	cost                     float64
	priced                   bool
}

// A tongue makes the events of a format. The second argument of open is the
// name of the conversation.
type tongue struct {
	open    func(conversation string) []event
	message func(text string) []event
	close   func(closing) []event
}

type event map[string]any

// faults are those that an agent can report.
func faults() []string {
	return []string{"auth", "context_too_long", "failed", "overloaded", "rate_limited"}
}

func newSpeech(out io.Writer, format string) (*speech, error) {
	if format == "" || format == "text" {
		return &speech{out: out}, nil
	}
	t, ok := tongues()[format]
	if !ok {
		return nil, fmt.Errorf("--format is %q, not one of text, %s", format,
			strings.Join(slices.Sorted(maps.Keys(tongues())), ", "))
	}
	return &speech{out: out, tongue: t}, nil
}

// say prints a message.
func (s *speech) say(text string) error {
	if s.tongue.message == nil {
		return sayLine(s.out, text)
	}
	if text == "" {
		return nil
	}
	s.final = strings.TrimSuffix(text, "\n")
	return s.print(append(s.begin(), s.tongue.message(s.final)...))
}

func (s *speech) begin() []event {
	if s.opened {
		return nil
	}
	s.opened = true
	return s.tongue.open("scripted-conversation")
}

// end prints the closing event. Plain lines have none: what went wrong goes to
// complain.
func (s *speech) end(c closing, complain io.Writer) error {
	if s.tongue.close == nil {
		if c.fault == "" {
			return nil
		}
		return sayLine(complain, c.reason)
	}
	c.final = s.final
	return s.print(append(s.begin(), s.tongue.close(c)...))
}

func (s *speech) print(events []event) error {
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := s.out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// readUsage reads what a turn costs, and readFault what goes wrong in it.
func readUsage(t *table) *usage {
	in, ok := t.table("usage")
	if !ok {
		return nil
	}
	const most = 1 << 40
	u := usage{
		input: in.number("input", most), output: in.number("output", most), cacheRead: in.number("cache_read", most),
		cost: in.decimal("cost"), priced: in.has("cost"),
	}
	in.done("usage")
	return &u
}

func readFault(t *table) (fault, reason string, resetAfter time.Duration) {
	fault, reason, resetAfter = t.text("fault"), t.text("reason"), t.duration("reset_after")
	switch {
	case t.has("fault") && !slices.Contains(faults(), fault):
		t.failf("fault", "fault must be one of %s, not %q", strings.Join(faults(), ", "), fault)
	case !t.has("fault") && t.has("reason"):
		t.failf("reason", "reason needs a fault that it explains")
	case fault != "rate_limited" && t.has("reset_after"):
		t.failf("reset_after", "reset_after needs fault = \"rate_limited\"")
	}
	if reason == "" && fault != "" {
		reason = "scripted fault: " + fault
	}
	return fault, reason, resetAfter
}

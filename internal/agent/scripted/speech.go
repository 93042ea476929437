package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A speech prints the agent's own words to standard output: as plain lines, or as events
// of a structured format.
type speech struct {
	out    io.Writer
	format *format // nil: plain lines
	opened bool
	final  string // the last message
}

// A closing is how a turn ends, for formats with a closing event.
type closing struct {
	Final  string
	Usage  *usage // nil: not reported
	Fault  string // one of faults; "": none
	Reason string
	Reset  int64 // when a limit ends, in seconds since 1970; 0: unknown
}

// status is the HTTP status that causes the fault, 0 if there is none.
func (c closing) status() int {
	return map[string]int{"auth": 401, "rate_limited": 429, "overloaded": 529, "context_too_long": 413}[c.Fault]
}

// numbered is the reason after its status, as many CLIs print it.
func (c closing) numbered() string {
	if c.status() == 0 {
		return c.Reason
	}
	return fmt.Sprintf("%d %s", c.status(), c.Reason)
}

// A usage holds the tokens and the cost of a turn.
type usage struct {
	Input, Output, CacheRead int
	Cost                     float64
	Priced                   bool
}

// allInput is the input including tokens from a cache.
func (u usage) allInput() int { return u.Input + u.CacheRead }

// total is the number of all tokens.
func (u usage) total() int { return u.allInput() + u.Output }

// faults lists what an agent can report.
func faults() []string {
	return []string{"auth", "context_too_long", "failed", "overloaded", "rate_limited"}
}

func newSpeech(out io.Writer, name string) (*speech, error) {
	s := &speech{out: out}
	if name == "" || name == "text" {
		return s, nil
	}
	f, ok := allFormats()[name]
	if !ok {
		return nil, fmt.Errorf("--format is %q, not one of text, %s", name, strings.Join(formats(), ", "))
	}
	s.format = &f
	return s, nil
}

// say prints a message.
func (s *speech) say(text string) error {
	if s.format == nil {
		return sayLine(s.out, text)
	}
	if text == "" {
		return nil
	}
	s.final = strings.TrimSuffix(text, "\n")
	return s.print(s.format.message(s.final))
}

// end prints the closing event. Plain text has none: a fault's reason goes to complain.
func (s *speech) end(c closing, complain io.Writer) error {
	if s.format == nil {
		if c.Fault == "" {
			return nil
		}
		return sayLine(complain, c.Reason)
	}
	c.Final = s.final
	return s.print(s.format.end(c))
}

// print prints events, after those that open a turn.
func (s *speech) print(events []event) error {
	if !s.opened {
		s.opened = true
		events = append(slices.Clone(s.format.open), events...)
	}
	for _, one := range events {
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if _, err := s.out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func readUsage(t *table) *usage {
	in, ok := t.table("usage")
	if !ok {
		return nil
	}
	const most = 1 << 40
	u := usage{
		Input: in.number("input", most), Output: in.number("output", most), CacheRead: in.number("cache_read", most),
		Cost: in.decimal("cost"), Priced: in.has("cost"),
	}
	in.done("usage")
	return &u
}

func readFault(t *table) fault {
	f := fault{t.text("fault"), t.text("reason"), t.duration("reset_after")}
	switch {
	case t.has("fault") && !slices.Contains(faults(), f.kind):
		t.failf("fault", "fault must be one of %s, not %q", strings.Join(faults(), ", "), f.kind)
	case !t.has("fault") && t.has("reason"):
		t.failf("reason", "reason needs a fault that it explains")
	case f.kind != "rate_limited" && t.has("reset_after"):
		t.failf("reset_after", "reset_after needs fault = \"rate_limited\"")
	}
	if f.reason == "" && f.kind != "" {
		f.reason = "scripted fault: " + f.kind
	}
	return f
}

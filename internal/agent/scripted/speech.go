package scripted

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
)

// A speech is what a turn prints to standard output as the agent's own words:
// plain lines, or the events of a structured format.
type speech struct {
	out    io.Writer
	format *template.Template // nil: plain lines
	opened bool
	final  string // the last message
}

// The structured formats, each as the CLI prints it that the format is named after; of its
// fields those are there that matter. A template has the parts "open", "message" and
// "close"; each line that it makes is an event.
//
//go:embed formats
var formatFiles embed.FS

// formats are the names of the structured formats, sorted.
func formats() (names []string) {
	files, _ := formatFiles.ReadDir("formats") // it is embedded
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".tmpl"))
	}
	return names
}

// A closing is how a turn ends, for those formats that say so.
type closing struct {
	Final  string
	Usage  *usage // nil: not told
	Fault  string // one of faults; "": none
	Reason string
	Reset  int64 // when a limit ends, in seconds since 1970; 0: not told
}

// Status is the answer of a model's service that goes with the fault, 0 when there is
// none.
func (c closing) Status() int {
	return map[string]int{"auth": 401, "rate_limited": 429, "overloaded": 529, "context_too_long": 413}[c.Fault]
}

// Numbered is the reason with the status in front of it, as many CLIs say it.
func (c closing) Numbered() string {
	if c.Status() == 0 {
		return c.Reason
	}
	return fmt.Sprintf("%d %s", c.Status(), c.Reason)
}

// A usage is what a turn costs.
type usage struct {
	Input, Output, CacheRead int
	Cost                     float64
	Priced                   bool
}

// AllInput counts the tokens from a cache among the input.
func (u usage) AllInput() int { return u.Input + u.CacheRead }

// Total is the number of all tokens.
func (u usage) Total() int { return u.AllInput() + u.Output }

// faults are those that an agent can report.
func faults() []string {
	return []string{"auth", "context_too_long", "failed", "overloaded", "rate_limited"}
}

func newSpeech(out io.Writer, format string) (*speech, error) {
	s := &speech{out: out}
	if format == "" || format == "text" {
		return s, nil
	}
	if !slices.Contains(formats(), format) {
		return nil, fmt.Errorf("--format is %q, not one of text, %s", format, strings.Join(formats(), ", "))
	}
	asJSON := func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	}
	var err error
	s.format, err = template.New(format).Funcs(template.FuncMap{"json": asJSON}).ParseFS(formatFiles, "formats/"+format+".tmpl")
	return s, err
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
	return s.print("message", s.final)
}

// end prints the closing event. Plain lines have none: what went wrong goes to
// complain.
func (s *speech) end(c closing, complain io.Writer) error {
	if s.format == nil {
		if c.Fault == "" {
			return nil
		}
		return sayLine(complain, c.Reason)
	}
	c.Final = s.final
	return s.print("close", c)
}

// print prints the events of a part of the format, behind those that open it.
func (s *speech) print(part string, of any) error {
	if !s.opened {
		s.opened = true
		if err := s.print("open", nil); err != nil {
			return err
		}
	}
	var events bytes.Buffer
	if err := s.format.ExecuteTemplate(&events, part, of); err != nil {
		return err
	}
	for event := range bytes.Lines(events.Bytes()) {
		if len(bytes.TrimSpace(event)) == 0 {
			continue
		}
		if _, err := s.out.Write(event); err != nil {
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

package transcript

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// maxPlain is how many lines that are no JSON are kept.
const maxPlain = 32

// A record is what the dialects write down of a turn.
type record struct {
	watch  loop.Watch
	report Report

	speech
	closed  bool        // the closing event was there
	failed  bool        // report.Ending and report.Reason are set
	stop    string      // why the model stopped, where that was no end of its own
	problem string      // the last fault that the agent has not got over yet
	coping  loop.Ending // what that is, where it tries again for the service's sake; "": it does not
	hidden  bool        // it is at work on something of which it tells the end alone
	lost    bool        // it tries again what cannot succeed
}

// A speech is what the agent has said.
type speech struct {
	text []byte           // the final text, as far as it is known
	said excerpt          // all messages
	last string           // the last message
	open excerpt          // a message that comes in pieces
	cuts map[string]int64 // what stands for left out bytes in the texts of this event, and their number
}

// say takes a whole message: those of one round make the final text.
func (r *record) say(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r.gotOver()
	r.last = text
	if r.failed { // nothing keeps it from working, but an error was there
		r.report.Ending = loop.EndFailed
	}
	whole, left := r.uncut(text)
	if len(r.text)+len(whole) >= maxLine {
		r.text = r.text[:0] // nobody says as much in one round
	}
	if len(r.text) > 0 && left == 0 {
		r.text = append(r.text, '\n')
	}
	r.text = append(r.text, whole...)
	if r.said.Total > 0 {
		r.said.write("\n\n")
	}
	r.said.write(r.last)
	r.said.gone += left
	r.notice(loop.NoticeMessage, r.last)
	if left > 0 {
		r.notice(loop.NoticeProblem, fmt.Sprintf("of a message of %d bytes, %d in the middle are not read", int64(len(text))+left, left))
	}
}

// uncut returns what of a message can be read for a decision, and how many bytes it
// lacks: head and tail together could read as something nobody said, so that only
// the whole lines of the tail are left then.
func (s *speech) uncut(text string) (whole string, left int64) {
	for mark, bytes := range s.cuts {
		if _, tail, ok := strings.Cut(text, mark); ok {
			_, whole, _ = strings.Cut(tail, "\n")
			return whole, bytes
		}
	}
	return text, 0
}

// piece takes a part of a message.
func (s *speech) piece(text string) {
	s.open.Keep = maxLine
	s.open.write(text)
}

// whole ends a message that came in pieces.
func (r *record) whole() {
	out, ofEvent := r.open.output(), r.cuts
	r.open = excerpt{}
	if out.Omitted > 0 {
		r.cuts = map[string]int64{proc.Omission(out.Omitted): out.Omitted}
	}
	r.say(out.Text)
	r.cuts = ofEvent
}

// round begins anew: what was said before is not the final text.
func (r *record) round() {
	r.whole()
	r.text = r.text[:0]
}

// final sets the final text, which mostly has been said already.
func (r *record) final(text string) {
	r.whole()
	if text != r.last {
		r.say(text)
	}
	whole, _ := r.uncut(text)
	r.text = append(r.text[:0], whole...)
}

// stops takes the reason for which the model ended what it said last; own are those
// of an end of its own. Any other one is that of a message which may not be whole.
func (r *record) stops(reason string, own ...string) {
	if r.stop = reason; slices.Contains(own, reason) {
		r.stop = ""
	}
}

// fault says what was in the agent's way. Of several the last one counts. No end
// of a turn takes it back, however good it is.
func (r *record) fault(e loop.Ending, reason string) {
	r.failed = true
	r.report.Ending, r.report.Reason = e, reason
	status, _ := statusOf(reason)
	r.report.Answered = status != 0
}

// answered says of the last fault that it is an answer of the model's service.
func (r *record) answered() { r.report.Answered = true }

// recovered takes a fault back that was one of a single message: the agent has sent
// another one in its place.
func (r *record) recovered() {
	r.failed = false
	r.report.Ending, r.report.Reason = "", ""
}

// cope notes a fault that the agent tries to get over by itself.
func (r *record) cope(problem string) {
	r.coping = ""
	if problem = Line(problem); problem != "" {
		r.problem = problem
		r.notice(loop.NoticeProblem, problem)
	}
}

// retries notes that the agent asks the service again, which answered what problem
// says.
func (r *record) retries(e loop.Ending, problem string) {
	if r.cope(problem); e.Stuck() {
		r.coping = e
	}
}

// gotOver forgets what was in the agent's way: it works.
func (r *record) gotOver() { r.problem, r.coping = "", "" }

func (r *record) notice(kind loop.NoticeKind, text string) {
	r.tell(loop.Notice{Kind: kind, Text: text})
}

func (r *record) tell(n loop.Notice) {
	if r.watch == nil {
		return
	}
	if n.Text = Line(n.Text); n.Text != "" {
		r.watch(n)
	}
}

// plainLine takes a line that is no event: of a program around the agent, or
// of the agent before it knows what it was asked.
func (r *record) plainLine(line []byte) {
	text := Line(string(line[:min(len(line), maxHead)]))
	if text == "" || text[0] == '{' || text[0] == '[' {
		return // torn, or of another program: never shown raw
	}
	if r.watch != nil {
		r.watch(loop.Notice{Kind: loop.NoticeOutput, Stream: "stdout", Text: text + "\n"})
	}
	if len(r.report.Plain) == maxPlain {
		r.report.Plain = r.report.Plain[1:]
	}
	r.report.Plain = append(r.report.Plain, text)
}

// add adds to the counts of tokens.
func (r *record) add(t loop.Tokens) {
	sum := loop.Tokens{}
	if r.report.Usage.Tokens != nil {
		sum = *r.report.Usage.Tokens
	}
	sum.Input += max(0, t.Input)
	sum.Output += max(0, t.Output)
	sum.CacheRead += max(0, t.CacheRead)
	sum.CacheWrite += max(0, t.CacheWrite)
	sum.Reasoning += max(0, t.Reasoning)
	r.report.Usage.Tokens = &sum
}

// pay adds to the cost, in US dollars.
func (r *record) pay(cost *float64) {
	if cost == nil {
		return
	}
	sum := max(0, *cost)
	if r.report.Usage.CostUSD != nil {
		sum += *r.report.Usage.CostUSD
	}
	r.report.Usage.CostUSD = &sum
}

// asked adds to how often the model was asked.
func (r *record) asked(times int) {
	if r.report.Usage.Rounds != nil {
		times += *r.report.Usage.Rounds
	}
	r.report.Usage.Rounds = &times
}

func (r *record) end(format string) Report {
	r.whole()
	out := r.report
	out.Said, out.Text, out.Problem, out.Coping = r.said.output(), string(r.text), r.problem, r.coping
	switch {
	case !out.Spoken:
		return Report{
			Ending: loop.EndFailed, Reason: "its output is not the " + format + " that was asked for",
			Plain: out.Plain,
		}
	case r.failed:
	case !r.closed:
		out.Ending, out.Reason = loop.EndFailed, "its output breaks off before the end"
		if r.problem != "" {
			out.Reason += "; the last problem was: " + r.problem
		}
	case r.stop != "":
		out.Ending, out.Reason = loop.EndFailed, "the model did not come to an end of its own: it stopped with "+Line(r.stop)
	case strings.TrimSpace(out.Text) == "":
		out.Ending = loop.EndEmpty
	default:
		out.Ending = loop.EndCompleted
	}
	out.Reason = line(out.Reason, maxHead)
	return out
}

package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// maxPlain is how many lines that are not JSON are kept.
const maxPlain = 32

// A record is what the dialects collect about a turn.
type record struct {
	watch  loop.Watch
	report Report

	speech
	closed  bool              // the closing event has come
	failed  bool              // report.Ending and report.Reason are set
	stop    string            // why the model stopped, if it did not finish by itself
	problem string            // the last problem that the agent has not overcome yet
	coping  loop.Ending       // the ending that problem would be, if the agent retries a request; "" otherwise
	calls   map[string]string // what running tools are for, by the IDs of the calls
	busy    bool              // something runs in the background, at whose end the agent goes on
	hidden  bool              // the agent is doing something that it reports only afterwards
	lost    bool              // the agent retries what cannot succeed
	spins   int               // requests to the model in a row that brought nothing

	tried, worked bool // tools were used, and one of them did not fail
}

// A speech is what the agent has said.
type speech struct {
	text []byte           // the final text so far
	kept int              // how much of it an earlier closing event has confirmed
	id   string           // of the message that text ends with, if the events tell
	said excerpt          // all messages
	last string           // the last message
	open excerpt          // a message that comes in pieces
	cuts map[string]int64 // the marks of omitted bytes in this event's texts, with their number
}

// say takes a whole message. The messages of one round make the final text.
func (r *record) say(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r.gotOver()
	r.closed = false
	if text != r.last {
		r.spins = 0
	}
	r.last = text
	if r.failed { // there was an error, but it did not keep the agent from working
		r.report.Ending = loop.EndFailed
	}
	whole, left := r.uncut(text)
	if len(r.text)+len(whole) >= maxLine {
		r.text, r.kept = r.text[:0], 0 // nobody says as much in one round
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
		r.notice(loop.NoticeProblem, fmt.Sprintf("a message of %d bytes is too long: %d bytes in its middle are not read", int64(len(text))+left, left))
	}
}

// uncut returns the part of a message that can be read for a decision, and how many bytes
// were omitted. Head and tail joined could read as something that nobody said, so only the
// whole lines of the tail remain.
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

// round starts a new round: what was said before is not the final text.
func (r *record) round() {
	r.whole()
	r.closed = false
	r.text = r.text[:r.kept]
}

// message starts a message, unless its ID is that of the last one: then it goes on.
func (r *record) message(id string) {
	if id == "" || id != r.id {
		r.round()
	}
	r.id = id
}

// begins takes the agent's name for its conversation. In another one, what was said before
// is not the final text.
func (r *record) begins(id string) {
	r.closed = false
	if id != "" && id != r.report.Conversation {
		r.report.Conversation, r.kept = id, 0
	}
}

// final takes the closing event's copy of the final text. It adds to what the messages say,
// but takes nothing away: some CLIs repeat only a part of it, or nothing.
func (r *record) final(text string) {
	r.whole()
	whole, _ := r.uncut(text)
	copied, said := strings.TrimSpace(whole), strings.TrimSpace(string(r.text))
	if strings.Contains(said, copied) {
		return
	}
	if text != r.last {
		r.say(text)
	}
	if strings.Contains(copied, said) {
		r.text = append(r.text[:0], whole...)
	}
}

// close takes the closing event. A conversation may go on after it, when something that
// runs in the background ends: then what is said is a remark, and the answer stands.
func (r *record) close() { r.closed, r.kept = true, len(r.text) }

// stops takes the model's reason for ending its last message. own are the reasons of a
// normal end; after any other one the message may not be whole.
func (r *record) stops(reason string, own ...string) {
	if r.stop = reason; slices.Contains(own, reason) {
		r.stop = ""
	}
}

// fault records why the turn failed. The last one counts, and a successful end of the
// turn does not undo it.
func (r *record) fault(e loop.Ending, reason string) {
	r.failed = true
	r.report.Ending, r.report.Reason = e, reason
	status, _ := statusOf(reason)
	r.report.Answered = status != 0
}

// answered marks the last fault as an answer of the model's service.
func (r *record) answered() { r.report.Answered = true }

// recovered undoes the fault of a single message: another message has replaced it.
func (r *record) recovered() {
	r.failed = false
	r.report.Ending, r.report.Reason = "", ""
}

// cope notes a problem that the agent tries to overcome by itself.
func (r *record) cope(problem string) {
	r.coping = ""
	if problem = Line(problem); problem != "" {
		r.problem = problem
		r.notice(loop.NoticeProblem, problem)
	}
}

// retries notes that the agent repeats a request that the service answered with problem.
func (r *record) retries(e loop.Ending, problem string) {
	if r.cope(problem); e.Stuck() {
		r.coping = e
	}
}

// gotOver forgets the last problem: the agent works.
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

// plainLine takes a line that is not an event: one of a wrapper, or of the agent before
// it has read its arguments.
func (r *record) plainLine(line []byte) {
	text := Line(string(line[:min(len(line), maxHead)]))
	if text == "" || text[0] == '{' || text[0] == '[' {
		return // a broken event, or that of another program: never shown raw
	}
	if r.watch != nil {
		r.watch(loop.Notice{Kind: loop.NoticeOutput, Stream: "stdout", Text: text + "\n"})
	}
	if len(r.report.Plain) == maxPlain {
		r.report.Plain = r.report.Plain[1:]
	}
	r.report.Plain = append(r.report.Plain, text)
}

// counts are numbers of tokens by their names.
type counts map[string]int64

// tokens returns the counts. Each CLI has its own names for them.
func (c counts) tokens() loop.Tokens {
	first := func(names ...string) (n int64) {
		for _, name := range names {
			n = cmp.Or(n, c[name])
		}
		return n
	}
	return loop.Tokens{
		Input:      first("input_tokens", "inputTokens"),
		Output:     first("output_tokens", "outputTokens"),
		CacheRead:  first("cache_read_input_tokens", "cached_input_tokens", "cacheReadInputTokens", "cacheReadTokens", "cachedReadTokens", "cached"),
		CacheWrite: first("cache_creation_input_tokens", "cache_write_input_tokens", "cacheCreationInputTokens", "cacheWriteTokens", "cachedWriteTokens"),
		Reasoning:  first("reasoning_output_tokens", "reasoningTokens", "thinkingTokens", "thoughtTokens"),
	}
}

// add adds to the counts of tokens.
func (r *record) add(t loop.Tokens) {
	r.report.Usage = r.report.Usage.Plus(loop.Usage{Tokens: &loop.Tokens{
		Input: max(0, t.Input), Output: max(0, t.Output), CacheRead: max(0, t.CacheRead), CacheWrite: max(0, t.CacheWrite), Reasoning: max(0, t.Reasoning),
	}})
}

// pay adds to the cost, in US dollars.
func (r *record) pay(cost *float64) {
	if cost != nil {
		r.report.Usage = r.report.Usage.Plus(loop.Usage{CostUSD: new(max(0, *cost))})
	}
}

// asked counts a request to the model.
func (r *record) asked() {
	r.report.Usage = r.report.Usage.Plus(loop.Usage{Rounds: new(1)})
	r.step()
}

// maxSpins is how many requests to the model in a row may bring neither a tool call nor a new
// text. Models that only think need a few.
const maxSpins = 20

// step notes a request to the model.
func (r *record) step() {
	if r.spins++; r.spins > maxSpins {
		r.report.Spinning = true
		r.problem = fmt.Sprintf("the last %d requests to its model brought no tool call and no new text", maxSpins)
	}
}

func (r *record) end(format string) Report {
	r.whole()
	out := r.report
	out.Said, out.Text, out.Problem, out.Coping, out.Closed = r.said.output(), string(r.text), r.problem, r.coping, r.closed
	out.Futile = r.tried && !r.worked
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
		out.Ending, out.Reason = loop.EndFailed, "the model stopped before it had finished: "+Line(r.stop)
	case strings.TrimSpace(out.Text) == "":
		out.Ending = loop.EndEmpty
		out.Reason = loop.Execution{Failures: out.Failures}.Denied()
	default:
		out.Ending = loop.EndCompleted
	}
	out.Reason = line(out.Reason, maxHead)
	return out
}

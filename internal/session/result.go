package session

import (
	"strings"

	"codeloops/internal/loop"
)

// A Result is the document that tells a program how a run ended.
type Result struct {
	// Outcome is [loop.Failed] for a run that could not begin.
	Outcome  loop.Outcome
	ExitCode int

	SessionID string // "" if no session was begun
	Log       string // path of the session's log

	FilesChanged int // in the last diff
	Insertions   int
	Deletions    int

	Musts, Mays int // as in [progress.Tally]

	Spent loop.Spending // by all turns of the session

	Last Last

	Failure *Failure // nil if nothing failed
}

// A Last is the latest judgement of the work.
type Last struct {
	Feedback string        // of the last whole iteration, to the actor; "" if it was DONE
	Checks   []ResultCheck // their last results
	Findings []loop.Finding
}

// A ResultCheck is the result of one of the project's own checks.
type ResultCheck struct {
	Name     string // the command in one line, for people
	Command  string
	Passed   bool
	ExitCode int
	Output   string // the end of what it printed
}

// How much of a check is in a result.
const (
	mostResultName   = 60      // characters
	mostResultOutput = 4 << 10 // bytes
)

// LastOf returns what a round leaves behind.
func LastOf(r loop.Round) (l Last) {
	if r.Verdict.Decision != loop.Done {
		l.Feedback = r.Verdict.Guidance()
	}
	l.Findings = r.Findings
	l.SetChecks(r.Checks)
	return l
}

// SetChecks replaces the results of the checks.
func (l *Last) SetChecks(checks []loop.CheckResult) {
	l.Checks = nil
	for _, c := range checks {
		name := []rune(strings.Join(strings.Fields(c.Command), " "))
		if len(name) > mostResultName {
			name = append(name[:mostResultName-1], '…')
		}
		l.Checks = append(l.Checks, ResultCheck{string(name), c.Command, c.Passed(), c.ExitCode, lastOf(c.Output.Text)})
	}
}

// lastOf returns the end of a text, beginning with a whole line if possible.
func lastOf(text string) string {
	over := len(text) - mostResultOutput
	if over <= 0 {
		return text
	}
	if next := strings.IndexByte(text[over-1:len(text)-1], '\n'); next >= 0 {
		return text[over+next:]
	}
	return strings.ToValidUTF8(text[over:], "")
}

// A Failure is what failed, for a person.
type Failure struct {
	Message string
	Hint    string // what to do about it; "" if there is nothing to suggest
}

// Encode returns the document as one line of JSON, with its line break.
func (r Result) Encode() []byte {
	w := &encoder{}
	w.open('{')
	typ := "result"
	w.text("type", &typ)
	r.fields(w)
	return append(w.buf, '}', '\n')
}

func (r *Result) fields(f fields) {
	schema := SchemaVersion
	f.value("schema_version", &schema)
	o := &r.Outcome
	word(f, "outcome", &o.Result)
	word(f, "stop_reason,null", &o.Reason)
	f.text("stop_cause,omitempty", &o.Cause)
	f.value("exit_code", &r.ExitCode)
	f.value("iterations", &o.Iterations)
	f.text("summary,null", &o.Summary)
	fraction(f, "confidence,null", &o.Confidence)
	duration(f, "duration_secs", &o.Duration)
	f.value("findings_unmentioned", &o.Unmentioned)
	f.value("findings_must,omitempty", &r.Musts)
	f.value("findings_may,omitempty", &r.Mays)
	f.value("nothing_changed", &o.NothingChanged)
	f.text("actor_error,omitempty", &o.ActorError)
	f.text("session_id,null", &r.SessionID)
	f.text("log,null", &r.Log)
	f.value("files_changed", &r.FilesChanged)
	f.value("insertions", &r.Insertions)
	f.value("deletions", &r.Deletions)
	f.object("spent", true, func(f fields) { spending(f, &r.Spent) })
	r.Last.fields(f)
	optional(f, "error,null", &r.Failure, func(f fields, failure *Failure) {
		f.text("message", &failure.Message)
		f.text("hint,null", &failure.Hint)
	})
}

func (l *Last) fields(f fields) {
	f.text("feedback,null", &l.Feedback)
	list(f, "checks", &l.Checks, func(f fields, c *ResultCheck) {
		f.text("name", &c.Name)
		f.text("command", &c.Command)
		f.value("passed", &c.Passed)
		f.value("exit_code", &c.ExitCode)
		f.text("output", &c.Output)
	})
	list(f, "findings", &l.Findings, finding)
}

// spent is what the turns of a role have cost.
func spent(f fields, role string, s *loop.Spent) {
	if finite(&s.CostUSD) == nil {
		s.CostUSD = 0
	}
	_, option := splitTag(role)
	f.object(role, option == "" || *s != (loop.Spent{}), func(f fields) {
		f.value("tokens", &s.Tokens)
		word(f, "tokens_basis,null", &s.TokensBasis)
		f.value("cost_usd", &s.CostUSD)
		word(f, "cost_basis,null", &s.CostBasis)
	})
}

// spending is what the turns of each role have cost.
func spending(f fields, s *loop.Spending) {
	spent(f, "actor", &s.Actor)
	spent(f, "critic", &s.Critic)
	spent(f, "others,omitempty", &s.Others)
}

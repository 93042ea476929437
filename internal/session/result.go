package session

import (
	"fmt"

	"codeloops/internal/loop"
)

// A Result is the document that says, to a program, how a run ended.
type Result struct {
	// Outcome is the run's; that of a run which could not begin is
	// [loop.Failed].
	Outcome  loop.Outcome
	ExitCode int

	SessionID string // "" when no session was begun
	Log       string // path of the session's log

	FilesChanged int // in the last diff
	Insertions   int
	Deletions    int

	Musts, Mays int // as in [progress.Tally]

	Spent loop.Spending // by all turns of the session

	Failure *Failure // nil when nothing broke
}

// A Failure is what broke, for a person.
type Failure struct {
	Message string
	Hint    string // what to do about it; "" when there is nothing to say
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

// DecodeResult is the inverse of [Result.Encode].
func DecodeResult(document []byte) (Result, error) {
	var r Result
	d, err := newDecoder(document, whole)
	if err == nil {
		r.fields(d)
		err = *d.err
	}
	if err != nil {
		return Result{}, fmt.Errorf("read result document: %w", err)
	}
	return r, nil
}

func (r *Result) fields(f fields) {
	schema := SchemaVersion
	f.value("schema_version", &schema)
	o := &r.Outcome
	word(f, "outcome", &o.Result)
	word(f, "stop_reason,null", &o.Reason)
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
	optional(f, "error,null", &r.Failure, func(f fields, failure *Failure) {
		f.text("message", &failure.Message)
		f.text("hint,null", &failure.Hint)
	})
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

package session

import (
	"slices"

	"codeloops/internal/loop"
)

// Encode returns e as one line of JSON, with its line break. Decoding the line gives the event
// again, except for what no log holds. A [loop.Activity] has a line as well, for those who
// follow a live run, but it is never logged.
func Encode(at loop.Stamp, e loop.Event) []byte { return Entry{At: at, Event: e}.line() }

// Encode returns the line that an entry was read from, without the files that it named and the
// fields that this version does not know.
func (e Entry) Encode() []byte {
	e.Stdout, e.Stderr, e.Reply = "", "", ""
	return e.line()
}

func (e Entry) line() []byte {
	w := &encoder{}
	w.open('{')
	typ := typeOf(e.Event)
	w.text("type", &typ)
	e.fields(w)
	return append(w.buf, '}', '\n')
}

// fields describes a line, except its type.
func (e *Entry) fields(f fields) {
	f.value("timestamp", (*moment)(&e.At.Time))
	f.value("seq,omitempty", &e.At.Seq)
	word(f, "step,omitempty", &e.At.Step)
	e.Event = event(f, e.Event)
	f.text("kept_output,omitempty", &e.Stdout)
	f.text("kept_stderr,omitempty", &e.Stderr)
	f.text("kept_reply,omitempty", &e.Reply)
	f.value("log_changed,omitempty", &e.Changed)
	totals(f, "totals,omitempty", &e.Totals)
}

// decode decodes a line; a lean decoding leaves out bulky texts. The event is nil if the type of
// line is unknown.
func decode(line []byte, how care) (e Entry, err error) {
	d, err := newDecoder(line, how)
	if err != nil {
		return e, err
	}
	var typ string
	d.text("type", &typ)
	if typ == "" && *d.err == nil {
		return e, errNoType
	}
	if e.Event = blank(typ); e.Event == nil {
		return e, *d.err
	}
	e.fields(d)
	e.Event = complete(d, e.Event)
	return e, *d.err
}

// complete adds what the original's logs do not say: a turn that is logged without an ending
// ended by itself.
func complete(d *decoder, e loop.Event) loop.Event {
	round, ok := e.(loop.IterationFinished)
	if !ok {
		return e
	}
	if !d.has("actor_ending") {
		round.Round.Attempt.Ending = ending(round.Round.Attempt.ExitCode)
	}
	if !d.has("critic_ending") {
		round.Round.Review.Ending = ending(round.Round.Review.ExitCode)
	}
	return round
}

func ending(exitCode int) loop.Ending {
	if exitCode == 0 {
		return loop.EndCompleted
	}
	return loop.EndFailed
}

// mapOutputs returns e with each of its outputs replaced by fn's result.
func mapOutputs(e loop.Event, fn func(loop.Output) loop.Output) loop.Event {
	both := func(t *loop.Turn) {
		t.Stdout, t.Stderr = fn(t.Stdout), fn(t.Stderr)
		t.Late.File = fn(loop.Output{Total: t.Late.Total, Omitted: t.Late.Total, File: t.Late.File}).File
	}
	all := func(checks []loop.CheckResult) []loop.CheckResult {
		checks = slices.Clone(checks)
		for i := range checks {
			checks[i].Output = fn(checks[i].Output)
		}
		return checks
	}
	switch e := e.(type) {
	case loop.ActorFinished:
		both(&e.Attempt.Turn)
		return e
	case loop.BaselineChecked:
		e.Checks = all(e.Checks)
		return e
	case loop.ChecksFinished:
		e.Checks = all(e.Checks)
		return e
	case loop.ReviewRejected:
		both(&e.Review.Turn)
		return e
	case loop.CriticFinished:
		both(&e.Review.Turn)
		return e
	case loop.TurnFinished:
		both(&e.Reply.Turn)
		return e
	case loop.Noted:
		e.Checks = all(e.Checks)
		return e
	case loop.IterationFinished:
		both(&e.Round.Attempt.Turn)
		both(&e.Round.Review.Turn)
		e.Round.Checks = all(e.Round.Checks)
		return e
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.TurnStarted, loop.Activity, loop.WaitStarted, loop.WaitFinished,
		loop.DiffCaptured, loop.Inspected, loop.Warned, loop.Finished, loop.Steered:
	}
	return e
}

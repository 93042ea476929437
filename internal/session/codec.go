package session

import (
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// kept names the files, relative to the log, that hold what an agent wrote in the turn of an
// actor_turn or critic_turn line, until the iteration line holds it. "" is an empty text.
type kept struct {
	stdout, stderr, reply string
}

func (k *kept) fields(f fields) {
	f.text("kept_output,omitempty", &k.stdout)
	f.text("kept_stderr,omitempty", &k.stderr)
	f.text("kept_reply,omitempty", &k.reply)
}

// aside is what a line holds besides its event.
type aside struct {
	kept   kept
	totals *progress.Tally // at the end of a log

	changed bool // somebody else also wrote to the log
}

func (a *aside) fields(f fields) {
	a.kept.fields(f)
	f.value("log_changed,omitempty", &a.changed)
	totals(f, "totals,omitempty", &a.totals)
}

// Encode returns e as one line of JSON, with its line break. Decoding the line gives the event
// again, except for what no log holds. A [loop.Activity] has a line as well, for those who
// follow a live run, but it is never logged.
func Encode(at loop.Stamp, e loop.Event) []byte {
	return encode(at, e, aside{})
}

// Encode returns the line that an entry was read from, without the files that it named and the
// fields that this version does not know.
func (e Entry) Encode() []byte {
	return encode(e.At, e.Event, aside{totals: e.Totals, changed: e.Changed})
}

func encode(at loop.Stamp, e loop.Event, a aside) []byte {
	w := &encoder{}
	w.open('{')
	typ := typeOf(e)
	w.text("type", &typ)
	head(w, &at)
	event(w, e)
	a.fields(w)
	return append(w.buf, '}', '\n')
}

// head describes what every line has besides its type.
func head(f fields, at *loop.Stamp) {
	f.value("timestamp", (*moment)(&at.Time))
	f.value("seq,omitempty", &at.Seq)
	word(f, "step,omitempty", &at.Step)
}

// decode decodes a line; a lean decoding leaves out bulky texts. The event is nil if the type
// of line is unknown.
func decode(line []byte, how care) (Entry, error) {
	d, err := newDecoder(line, how)
	if err != nil {
		return Entry{}, err
	}
	return d.entry()
}

func (d *decoder) entry() (Entry, error) {
	var typ string
	d.text("type", &typ)
	if typ == "" && *d.err == nil {
		return Entry{}, errNoType
	}
	e := blank(typ)
	if e == nil {
		return Entry{}, *d.err
	}
	var entry Entry
	head(d, &entry.At)
	entry.Event = complete(d, event(d, e))
	var a aside
	a.fields(d)
	entry.Stdout, entry.Stderr, entry.Reply, entry.Totals = a.kept.stdout, a.kept.stderr, a.kept.reply, a.totals
	entry.Changed = a.changed
	return entry, *d.err
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

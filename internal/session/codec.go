package session

import (
	"bytes"
	"time"

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
	e.Event = mapOutputs(e.Event, withoutFile)
	for _, k := range lineKinds() {
		if object := k.object(e); object != nil {
			return marshal(object)
		}
	}
	return nil // a log has no line for it
}

// decode decodes a line. The event is nil if the type of line is unknown.
func decode(line []byte) (Entry, error) {
	typ, err := typeOf(line)
	if err != nil {
		return Entry{}, err
	}
	for _, k := range lineKinds() {
		if k.name == typ {
			e, err := k.entry(line)
			e.Event = mapOutputs(e.Event, withoutFile)
			return e, err
		}
	}
	return Entry{}, unmarshal(line, &struct{}{})
}

// typeOf returns the type of a line. In our logs and the original's it is the first field.
func typeOf(line []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok && !bytes.Contains(name, []byte(`\`)) {
			return string(name), nil
		}
	}
	var object *struct {
		Type *string `json:"type"`
	}
	switch err := unmarshal(line, &object); {
	case err != nil:
		return "", err
	case object == nil:
		return "", errNotObject
	case object.Type == nil:
		return "", errNoType
	}
	return *object.Type, nil
}

// withoutFile drops the file of an output of which nothing is omitted: it has been removed.
func withoutFile(o loop.Output) loop.Output {
	if o.Omitted <= 0 {
		o.File = ""
	}
	return o
}

// A kind is a kind of line.
type kind struct {
	name   string
	object func(Entry) any // to be marshalled; nil if the entry is of another kind
	entry  func(line []byte) (Entry, error)
}

// kindOf returns the kind of line that an event of type E is written to as the fields of F.
func kindOf[E loop.Event, F any](name string, write func(E) F, read func(F) E) kind {
	return kind{
		name: name,
		object: func(e Entry) any {
			event, ok := e.Event.(E)
			if !ok {
				return nil
			}
			head := head{Type: name, Time: e.At.Time, Seq: e.At.Seq, Step: e.At.Step}
			return &line[F]{head, write(event), tail{e.Stdout, e.Stderr, e.Reply, e.Changed, totalsOf(e.Totals)}}
		},
		entry: func(text []byte) (e Entry, err error) {
			var l line[F]
			if err := unmarshal(text, &l); err != nil {
				return e, err
			}
			e = Entry{At: loop.Stamp{Seq: l.Seq, Time: l.Time, Step: l.Step}, Event: read(l.Fields)}
			e.Stdout, e.Stderr, e.Reply, e.Changed, e.Totals = l.Stdout, l.Stderr, l.Reply, l.Changed, l.Totals.tally()
			return e, nil
		},
	}
}

// as is the kind of line whose fields are those of the event.
func as[E loop.Event](name string) kind {
	same := func(e E) E { return e }
	return kindOf(name, same, same)
}

// A line holds the fields of a kind of line.
type line[F any] struct {
	head
	Fields F `json:",embed"`
	tail
}

// A head is what each line begins with.
type head struct {
	Type string    `json:"type"`
	Time time.Time `json:"timestamp"`
	Seq  int       `json:"seq,omitzero"`
	Step loop.Step `json:"step,omitzero"`
}

// A tail is what few lines end with.
type tail struct {
	Stdout  string  `json:"kept_output,omitzero"`
	Stderr  string  `json:"kept_stderr,omitzero"`
	Reply   string  `json:"kept_reply,omitzero"`
	Changed bool    `json:"log_changed,omitzero"`
	Totals  *totals `json:"totals,omitzero"`
}

// mapOutputs returns e with each of its outputs replaced by fn's result.
func mapOutputs(e loop.Event, fn func(loop.Output) loop.Output) loop.Event {
	both := func(t *loop.Turn) {
		t.Stdout, t.Stderr = fn(t.Stdout), fn(t.Stderr)
		t.Late.File = fn(loop.Output{Total: t.Late.Total, Omitted: t.Late.Total, File: t.Late.File}).File
	}
	all := func(checks []loop.CheckResult) []loop.CheckResult {
		checks = append([]loop.CheckResult(nil), checks...) // a line without any has an empty list
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

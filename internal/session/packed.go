package session

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/metrics"
)

// A packer writes values behind one another, or reads them in the same order:
// what an index holds is described once. A number is a varint, a text its
// length with its bytes behind it.
type packer struct {
	out []byte // what has been written

	reading bool
	in      string // what is left to read; the texts that are read are parts of it
	bad     bool   // it broke off, or holds what no packer writes
}

func (p *packer) num(v *int64) {
	if !p.reading {
		p.out = binary.AppendVarint(p.out, *v)
		return
	}
	n, size := binary.Varint([]byte(p.in[:min(len(p.in), binary.MaxVarintLen64)]))
	if size <= 0 {
		p.in, p.bad, *v = "", true, 0
		return
	}
	p.in, *v = p.in[size:], n
}

func (p *packer) count(v *int) {
	n := int64(*v)
	p.num(&n)
	*v = int(n)
}

func (p *packer) yes(v *bool) {
	n := int64(0)
	if *v {
		n = 1
	}
	p.num(&n)
	*v = n == 1
	p.bad = p.bad || n>>1 != 0
}

func (p *packer) text(v *string) {
	n := int64(len(*v))
	p.num(&n)
	if !p.reading {
		p.out = append(p.out, *v...)
		return
	}
	if n < 0 || n > int64(len(p.in)) {
		p.in, p.bad, *v = "", true, ""
		return
	}
	*v, p.in = p.in[:n], p.in[n:]
}

func (p *packer) float(v *float64) {
	n := int64(math.Float64bits(*v))
	p.num(&n)
	*v = math.Float64frombits(uint64(n))
}

func (p *packer) fraction(v **float64) {
	there := *v != nil
	if p.yes(&there); !there {
		*v = nil
		return
	}
	if p.reading {
		*v = new(float64)
	}
	p.float(*v)
}

func (p *packer) time(v *time.Time) {
	there := !v.IsZero()
	if p.yes(&there); !there {
		*v = time.Time{}
		return
	}
	sec, nsec := v.Unix(), int64(v.Nanosecond())
	p.num(&sec)
	p.num(&nsec)
	if p.bad = p.bad || nsec < 0 || nsec > 999_999_999; p.reading && !p.bad {
		*v = time.Unix(sec, nsec).UTC()
	}
}

func (p *packer) duration(v *time.Duration) { p.num((*int64)(v)) }

// overview packs what the log of a session tells. Where the log is, how long,
// and who is at work on it, is looked at anew each time.
func (p *packer) overview(o *Overview) {
	p.session(&o.Session)
	p.time(&o.Started)
	p.time(&o.Ended)
	p.count(&o.Iterations)
	p.duration(&o.Duration)
	ended := o.Outcome != nil
	if p.yes(&ended); ended {
		if p.reading {
			o.Outcome = &loop.Outcome{}
		}
		p.outcome(o.Outcome)
	}
	counted := o.Tally != nil
	if p.yes(&counted); counted {
		if p.reading {
			o.Tally = &metrics.Tally{}
		}
		p.tally(o.Tally)
	}
	p.problem(&o.Err)
	p.problem(&o.Problem)
	p.yes(&o.through)
}

func (p *packer) session(s *loop.Session) {
	p.text(&s.ID)
	p.text(&s.Prompt)
	p.text(&s.WorkingDir)
	p.text(&s.Actor.Agent)
	p.text(&s.Actor.Model)
	p.text(&s.Critic.Agent)
	p.text(&s.Critic.Model)
	p.count(&s.MaxIterations)
	p.text(&s.BaseCommit)
	p.text(&s.Checkpoint)
	p.text(&s.Version)
	p.seldom(s)
}

// seldom packs what few sessions set as a log spells it.
func (p *packer) seldom(s *loop.Session) {
	var text string
	if !p.reading {
		w := &encoder{buf: []byte{'{'}}
		seldom(w, s)
		if text = string(append(w.buf, '}')); text == "{}" {
			text = ""
		}
	}
	if p.text(&text); !p.reading || text == "" {
		return
	}
	d, err := newDecoder([]byte(text), whole)
	if err == nil {
		seldom(d, s)
		err = *d.err
	}
	p.bad = p.bad || err != nil
}

func (p *packer) outcome(o *loop.Outcome) {
	p.text((*string)(&o.Result))
	p.text((*string)(&o.Reason))
	p.count(&o.Iterations)
	p.text(&o.Summary)
	p.fraction(&o.Confidence)
	p.duration(&o.Duration)
	p.count(&o.Unmentioned)
	p.yes(&o.NothingChanged)
	p.text(&o.ActorError)
}

func (p *packer) tally(t *metrics.Tally) {
	for _, n := range []*int{
		&t.Iterations, &t.Errors, &t.ActorTurns, &t.Asks, &t.Leftovers, &t.Waits, &t.FilesChanged, &t.Insertions, &t.Deletions,
	} {
		p.count(n)
	}
	for _, d := range []*time.Duration{&t.ActorTime, &t.CriticTime, &t.CheckTime, &t.ActorWait, &t.CriticWait} {
		p.duration(d)
	}
	for _, s := range []*loop.Spent{&t.Spent.Actor, &t.Spent.Critic} {
		p.num(&s.Tokens)
		p.float(&s.CostUSD)
		p.text((*string)(&s.TokensBasis))
		p.text((*string)(&s.CostBasis))
	}
	for _, u := range []*metrics.Usage{&t.ActorUsage, &t.CriticUsage} {
		for _, n := range []*int64{&u.Tokens.Input, &u.Tokens.Output, &u.Tokens.CacheRead, &u.Tokens.CacheWrite, &u.Tokens.Reasoning} {
			p.num(n)
		}
		p.float(&u.CostUSD)
		p.count(&u.Rounds)
		p.count(&u.Counted)
		p.count(&u.Priced)
	}
}

// problem packs what is wrong with a line; whoever reads it says in which file.
func (p *packer) problem(err *error) {
	var line LineError
	var text string
	kind := 0
	if bad, ok := errors.AsType[*LineError](*err); ok {
		line, text = *bad, bad.Err.Error()
		for i, known := range problems() {
			if errors.Is(bad, known) {
				kind = i
			}
		}
	}
	p.count(&line.Line)
	if line.Line == 0 {
		*err = nil
		return
	}
	p.count(&kind)
	p.text(&text)
	if kind < 0 || kind >= len(problems()) {
		p.bad = true
		return
	}
	*err = &LineError{Line: line.Line, Err: &recalledError{text: text, is: problems()[kind]}}
}

// problems are those of a line that callers may ask for; nil is any other.
func problems() []error { return []error{nil, ErrEmpty, errNoStart, ErrTorn, ErrLineTooLong} }

// A recalledError is one that an index remembers.
type recalledError struct {
	text string
	is   error
}

func (e *recalledError) Error() string { return e.text }
func (e *recalledError) Unwrap() error { return e.is }

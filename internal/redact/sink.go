package redact

import (
	"errors"
	"io/fs"
	"slices"

	"codeloops/internal/loop"
)

// Sink returns a sink that hands on to next the events of a run, redacted, and
// redacts the files that outputs name. Every text is; the words of closed
// vocabularies are not, nor what codeloops itself makes up: ids, versions,
// hashes. The events it is handed stay as they are. The end of an
// [loop.Activity] that may be the beginning of a secret is handed on, under
// the same stamp, with the next event.
func (r *Redactor) Sink(next loop.Sink) loop.Sink {
	if r.matcher == nil {
		return next
	}
	return &sink{Redactor: r, next: next}
}

type sink struct {
	*Redactor
	next   loop.Sink
	voices []*voice // in the order in which they were first heard
}

// A voice is one stream of activity.
type voice struct {
	at     loop.Stamp
	last   loop.Activity
	stream stream
}

func (s *sink) Handle(at loop.Stamp, e loop.Event) error {
	if a, ok := e.(loop.Activity); ok {
		return s.activity(at, a)
	}
	// A warning may come in the middle of what an agent says.
	if _, aside := e.(loop.Warned); !aside {
		if err := s.silence(); err != nil {
			return err
		}
	}
	e, err := s.event(e)
	if err != nil {
		return err
	}
	return s.next.Handle(at, e)
}

// silence hands on what is left of every voice.
func (s *sink) silence() error {
	voices := s.voices
	s.voices = nil
	for _, v := range voices {
		if err := s.say(v, v.stream.rest()); err != nil {
			return err
		}
	}
	return nil
}

func (s *sink) activity(at loop.Stamp, a loop.Activity) error {
	if a.Stream == "" { // a line of its own, not a piece of an output
		a.Text = s.String(a.Text)
		return s.next.Handle(at, a)
	}
	v := s.voice(a)
	v.at, v.last = at, a
	return s.say(v, v.stream.next([]byte(a.Text)))
}

func (s *sink) voice(a loop.Activity) *voice {
	for _, v := range s.voices {
		if v.last.Iteration == a.Iteration && v.last.Role == a.Role && v.last.Stream == a.Stream {
			return v
		}
	}
	v := &voice{stream: s.stream()}
	s.voices = append(s.voices, v)
	return v
}

func (s *sink) say(v *voice, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	v.last.Text = string(text)
	return s.next.Handle(v.at, v.last)
}

// event returns e redacted. Files are redacted with the event that names them
// first.
func (r *Redactor) event(e loop.Event) (loop.Event, error) { //nolint:gocyclo // one case for each event
	switch e := e.(type) {
	case loop.Started:
		r.session(&e.Session)
		return e, nil
	case loop.Resumed:
		r.session(&e.Session)
		return e, nil
	case loop.WaitStarted:
		r.wait(&e.Wait)
		return e, nil
	case loop.WaitFinished:
		r.wait(&e.Wait)
		return e, nil
	case loop.ActorFinished:
		err := r.turnFiles(e.Attempt.Turn)
		r.turn(&e.Attempt.Turn)
		return e, err
	case loop.DiffCaptured:
		r.change(&e.Change)
		return e, nil
	case loop.Inspected:
		r.inspection(&e.Inspection)
		return e, nil
	case loop.BaselineChecked:
		err := r.checks(&e.Checks)
		return e, err
	case loop.ChecksFinished:
		err := r.checks(&e.Checks)
		return e, err
	case loop.ReviewRejected:
		err := r.turnFiles(e.Review.Turn)
		r.review(&e.Review)
		return e, err
	case loop.CriticFinished:
		err := r.turnFiles(e.Review.Turn)
		r.review(&e.Review)
		return e, err
	case loop.IterationFinished:
		r.round(&e.Round)
		return e, nil
	case loop.Warned:
		e.Text = r.String(e.Text)
		return e, nil
	case loop.Finished:
		e.Outcome.Summary = r.String(e.Outcome.Summary)
		e.Outcome.ActorError = r.String(e.Outcome.ActorError)
		return e, nil
	case loop.Activity, loop.IterationStarted, loop.PhaseEntered:
	}
	return e, nil
}

// files redacts the files of outputs. One that is gone holds no secret.
func (r *Redactor) files(outputs ...loop.Output) error {
	for _, o := range outputs {
		if o.File == "" {
			continue
		}
		if err := r.File(o.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// turnFiles redacts the files of a turn.
func (r *Redactor) turnFiles(t loop.Turn) error {
	return r.files(t.Stdout, t.Stderr, loop.Output{File: t.Late.File})
}

// in redacts texts in place.
func (r *Redactor) in(texts ...*string) {
	for _, t := range texts {
		*t = r.String(*t)
	}
}

func (r *Redactor) session(s *loop.Session) {
	r.in(&s.Prompt, &s.WorkingDir, &s.Actor.Agent, &s.Actor.Model, &s.Critic.Agent, &s.Critic.Model)
	for _, refs := range []*[]loop.AgentRef{&s.ActorFallback, &s.CriticFallback} {
		*refs = each(*refs, func(a *loop.AgentRef) { r.in(&a.Agent, &a.Model) })
	}
	r.policy(&s.Policy)
	s.Templates = each(s.Templates, func(t *loop.Template) { r.in(&t.Origin) })
	s.Rules = each(s.Rules, r.rule)
	s.Deciders = each(s.Deciders, func(d *loop.Decider) { r.in(&d.Path) })
	s.Flags = each(s.Flags, func(f *loop.Flag) {
		r.in(&f.Name)
		if !slices.Equal(r.texts(f.Values), f.Values) {
			f.Values, f.Hidden = nil, true
		}
	})
}

func (r *Redactor) rule(x *loop.Rule) {
	r.in(&x.Key, &x.Origin)
	x.Values = r.texts(x.Values)
}

// Rules returns the rules as a log keeps them.
func (r *Redactor) Rules(rules []loop.Rule) []loop.Rule { return each(rules, r.rule) }

func (r *Redactor) policy(p *loop.Policy) {
	r.in(&p.Profile, &p.OnViolation, &p.OpenFindings)
	p.CriticDecisions = r.texts(p.CriticDecisions)
	if p.Critique != nil {
		c := *p.Critique
		c.RiskTypes, c.HighRiskTypes = r.texts(c.RiskTypes), r.texts(c.HighRiskTypes)
		r.in(&c.Fallback)
		p.Critique = &c
	}
}

func (r *Redactor) turn(t *loop.Turn) {
	r.output(&t.Stdout)
	r.output(&t.Stderr)
	r.in(&t.Late.File, &t.Reason, &t.Conversation, &t.SessionID, &t.Agent.Agent, &t.Agent.Model)
	t.Misses = each(t.Misses, func(m *loop.Miss) { r.in(&m.Reason, &m.Agent.Agent, &m.Agent.Model) })
	t.Leftovers = each(t.Leftovers, func(p *loop.Process) { r.in(&p.Command) })
}

func (r *Redactor) wait(w *loop.Wait) { r.in(&w.Agent.Agent, &w.Agent.Model, &w.Reason) }

func (r *Redactor) output(o *loop.Output) { r.in(&o.Text, &o.File) }

func (r *Redactor) checks(results *[]loop.CheckResult) (err error) {
	for _, c := range *results {
		err = errors.Join(err, r.files(c.Output))
	}
	*results = each(*results, r.check)
	return err
}

func (r *Redactor) check(c *loop.CheckResult) {
	r.in(&c.Command)
	r.output(&c.Output)
	c.Changed, c.Lacked = r.texts(c.Changed), r.texts(c.Lacked)
}

func (r *Redactor) change(c *loop.Change) {
	c.Files = each(c.Files, func(f *loop.FileChange) { r.in(&f.Path, &f.OldPath, &f.Patch, &f.BinaryPatch) })
	c.Unshown = each(c.Unshown, func(u *loop.Unshown) { r.in(&u.Path, &u.Via, &u.Text) })
	c.Warnings = r.texts(c.Warnings)
	c.Git = r.texts(c.Git)
	r.in(&c.Position.Head, &c.Position.Index, &c.Position.Tags)
}

func (r *Redactor) review(v *loop.Review) {
	r.turn(&v.Turn)
	r.in(&v.Reply, &v.Problem)
	v.Unmentioned, v.Undone = r.texts(v.Unmentioned), r.texts(v.Undone)
	r.verdict(&v.Verdict)
}

func (r *Redactor) verdict(v *loop.Verdict) {
	r.in(&v.Summary, &v.Feedback, &v.Analysis, &v.Recovery, &v.Escalation, &v.Severity)
	v.Issues = r.texts(v.Issues)
	v.Risks = each(v.Risks, func(k *loop.Risk) { r.in(&k.Type, &k.Detail) })
	v.RequiredChanges = r.texts(v.RequiredChanges)
	v.Answers = each(v.Answers, func(a *loop.Answer) { r.in(&a.ID, &a.Why) })
}

func (r *Redactor) inspection(i *loop.Inspection) {
	i.Concerns = each(i.Concerns, func(c *loop.Concern) {
		r.in(&c.Text)
		c.Places = each(c.Places, func(p *loop.Place) { r.in(&p.At, &p.What) })
	})
	r.in(&i.Audit.Excerpt)
	i.Audit.Required = each(i.Audit.Required, func(q *loop.Requirement) { r.in(&q.Text) })
}

func (r *Redactor) ruling(v *loop.Ruling) {
	r.verdict(&v.Verdict)
	r.in(&v.Why)
	v.Findings = each(v.Findings, func(f *loop.Finding) { r.in(&f.Text, &f.Check) })
	v.Warnings = r.texts(v.Warnings)
}

func (r *Redactor) round(v *loop.Round) {
	r.turn(&v.Attempt.Turn)
	r.change(&v.Change)
	v.Checks = each(v.Checks, r.check)
	r.review(&v.Review)
	r.inspection(&v.Inspection)
	r.ruling(&v.Ruling)
}

package session

import (
	"slices"
	"time"

	"codeloops/internal/loop"
)

// Logged returns what a log keeps of an event, which is what a reader of its line gets. ok is false
// for a [loop.Activity], which is not logged. A renderer that shows an event and its logged form
// alike shows a run and its replay alike.
//
//   - The texts of the actor and the critic are kept only in [loop.IterationFinished] and
//     [loop.ReviewRejected].
//   - The repository's position is not kept, nor anything that is also among the warnings.
//   - The text of patches is kept in [loop.IterationFinished] only.
//   - The file of an output is kept if something of the output is omitted.
//   - Times are in UTC, without a monotonic reading; empty lists are nil;
//     numbers that are not finite are nil.
func Logged(at loop.Stamp, e loop.Event) (_ loop.Stamp, _ loop.Event, ok bool) { //nolint:gocyclo // one case per event
	at.Time = loggedTime(at.Time)
	switch x := mapOutputs(e, loggedOutput).(type) {
	case loop.Activity:
		x.Wait = nil
		if x.Look != nil && len(x.Look.New) == 0 {
			look := *x.Look
			look.New = nil
			x.Look = &look
		}
		return at, x, false
	case loop.WaitStarted:
		x.Wait = loop.Wait{Agent: x.Wait.Agent, Cause: x.Wait.Cause, Reason: x.Wait.Reason, Until: loggedTime(x.Wait.Until)}
		return at, x, true
	case loop.WaitFinished:
		x.Wait.Until = loggedTime(x.Wait.Until)
		return at, x, true
	case loop.ActorFinished:
		x.Attempt.Turn = withoutText(loggedTurn(x.Attempt.Turn))
		return at, x, true
	case loop.DiffCaptured:
		x.Change = withoutPatches(loggedChange(x.Change))
		return at, x, true
	case loop.Inspected:
		x.Inspection = loggedInspection(x.Inspection)
		return at, x, true
	case loop.BaselineChecked:
		x.Checks = loggedChecks(x.Checks)
		return at, x, true
	case loop.ChecksFinished:
		x.Checks = loggedChecks(x.Checks)
		return at, x, true
	case loop.ReviewRejected:
		x.Review = loggedReview(x.Review)
		return at, x, true
	case loop.CriticFinished:
		x.Review = loggedReview(x.Review)
		x.Review.Turn, x.Review.Reply = withoutText(x.Review.Turn), ""
		return at, x, true
	case loop.Noted:
		x.Change, x.Checks = loggedChange(withoutPatches(x.Change)), loggedChecks(x.Checks)
		return at, x, true
	case loop.TurnFinished:
		x.Reply.Turn, x.Reply.Written = loggedTurn(x.Reply.Turn), loop.Written{}
		if x.Review == nil {
			x.State = ""
			return at, x, true
		}
		x.Review = new(loggedReview(*x.Review))
		x.Review.Turn, x.Review.Reply, x.Review.Votes = loop.Turn{}, "", nil
		return at, x, true
	case loop.IterationFinished:
		x.Round = loggedRound(x.Round)
		return at, x, true
	case loop.Finished:
		x.Outcome.Confidence = finite(x.Outcome.Confidence)
		return at, x, true
	case loop.Started:
		x.Session = loggedSession(x.Session)
		return at, x, true
	case loop.Resumed:
		x.Session = loggedSession(x.Session)
		x.Session.Prompt = ""
		return at, x, true
	case loop.IterationStarted, loop.PhaseEntered, loop.TurnStarted, loop.Warned:
		return at, x, true
	}
	return at, e, false
}

func loggedSession(s loop.Session) loop.Session {
	s.ActorFallback, s.CriticFallback = orNil(s.ActorFallback), orNil(s.CriticFallback)
	s.Policy, s.Templates = loggedPolicy(s.Policy), orNil(s.Templates)
	s.Deciders, s.Strategy.Parameters = orNil(s.Deciders), orNil(s.Strategy.Parameters)
	s.Rules, s.Flags = slices.Clone(orNil(s.Rules)), slices.Clone(orNil(s.Flags))
	for i := range s.Rules {
		s.Rules[i].Values = orNil(s.Rules[i].Values)
	}
	for i := range s.Flags {
		s.Flags[i].Values = orNil(s.Flags[i].Values)
	}
	return s
}

func loggedPolicy(p loop.Policy) loop.Policy {
	p.ApprovalThreshold, p.CriticDecisions = finite(p.ApprovalThreshold), orNil(p.CriticDecisions)
	if p.Critique != nil {
		c := *p.Critique
		c.RiskTypes, c.HighRiskTypes = orNil(c.RiskTypes), orNil(c.HighRiskTypes)
		p.Critique = &c
	}
	if p.Panel != nil {
		c := *p.Panel
		c.Members = orNil(c.Members)
		p.Panel = &c
	}
	if p.Convergence != nil {
		c := *p.Convergence
		c.Similarity = finite(c.Similarity)
		p.Convergence = &c
	}
	return p
}

func loggedTime(t time.Time) time.Time { return t.UTC().Round(0) }

func loggedOutput(o loop.Output) loop.Output {
	if o.Omitted <= 0 {
		o.File = ""
	}
	return o
}

func withoutText(t loop.Turn) loop.Turn {
	t.Stdout.Text, t.Stderr.Text = "", ""
	return t
}

func withoutPatches(c loop.Change) loop.Change {
	c.Files = slices.Clone(c.Files)
	for i := range c.Files {
		c.Files[i].Patch, c.Files[i].BinaryPatch = "", ""
	}
	c.Unshown = slices.Clone(c.Unshown)
	for i := range c.Unshown {
		c.Unshown[i].Text = ""
	}
	return c
}

func loggedTurn(t loop.Turn) loop.Turn {
	t.ResetAt = loggedTime(t.ResetAt)
	t.Usage = loggedUsage(t.Usage)
	t.Leftovers, t.Misses, t.Failures = orNil(t.Leftovers), orNil(slices.Clone(t.Misses)), orNil(t.Failures)
	for i := range t.Misses {
		t.Misses[i].Usage = loggedUsage(t.Misses[i].Usage)
	}
	return t
}

func loggedChange(c loop.Change) loop.Change {
	c.Files, c.Unshown, c.Warnings = orNil(c.Files), orNil(c.Unshown), orNil(c.Warnings)
	c.Position, c.Git = loop.Position{}, nil
	return c
}

func loggedChecks(list []loop.CheckResult) []loop.CheckResult {
	list = slices.Clone(orNil(list))
	for i := range list {
		list[i].Changed, list[i].Rewrites, list[i].Lacked = orNil(list[i].Changed), orNil(list[i].Rewrites), orNil(list[i].Lacked)
		list[i].Written = loop.Written{}
	}
	return list
}

func loggedReview(r loop.Review) loop.Review {
	r.Turn, r.Verdict = loggedTurn(r.Turn), loggedVerdict(r.Verdict)
	r.Unmentioned, r.Stale, r.Votes = orNil(r.Unmentioned), orNil(r.Stale), orNil(r.Votes)
	w := r.Written
	r.Written = loop.Written{Changed: orNil(w.Changed), Added: orNil(w.Added), Settings: orNil(w.Settings)}
	return r
}

func loggedRound(r loop.Round) loop.Round {
	r.Attempt.Turn = loggedTurn(r.Attempt.Turn)
	r.Change = loggedChange(r.Change)
	if r.Own != nil {
		r.Own = new(loggedChange(*r.Own))
	}
	r.Checks = loggedChecks(r.Checks)
	r.Review = loggedReview(r.Review)
	r.Inspection = loggedInspection(r.Inspection)
	r.Verdict = loggedVerdict(r.Verdict)
	r.Findings, r.Warnings, r.Trace = orNil(r.Findings), orNil(r.Warnings), orNil(r.Trace)
	return r
}

// loggedInspection drops an audit without a state.
func loggedInspection(i loop.Inspection) loop.Inspection {
	i.Concerns = orNil(slices.Clone(i.Concerns))
	for n := range i.Concerns {
		i.Concerns[n].Places = orNil(i.Concerns[n].Places)
	}
	if i.Audit.After == "" {
		i.Audit = loop.Audit{}
	}
	i.Audit.Required = orNil(i.Audit.Required)
	return i
}

func loggedVerdict(v loop.Verdict) loop.Verdict {
	v.Confidence, v.Score = finite(v.Confidence), finite(v.Score)
	v.Issues, v.RequiredChanges, v.Risks = orNil(v.Issues), orNil(v.RequiredChanges), orNil(v.Risks)
	v.Answers = orNil(v.Answers)
	return v
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

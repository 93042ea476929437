package session

import (
	"reflect"

	"codeloops/internal/loop"
)

// SchemaVersion is the version of the log format that this package writes. It is increased
// when a field or a type of line is added.
const SchemaVersion = 2

// typeSessionEnd is the type of the last line.
const typeSessionEnd = "session_end"

// A lineType is a type of line and its event.
type lineType struct {
	name  string
	blank loop.Event
}

// lineTypes returns all of them. session_start, iteration and session_end are those that every
// reader knows.
func lineTypes() [21]lineType {
	return [...]lineType{
		{"phase", loop.PhaseEntered{}},
		{"activity", loop.Activity{}},
		{"actor_turn", loop.ActorFinished{}},
		{"critic_turn", loop.CriticFinished{}},
		{"iteration", loop.IterationFinished{}},
		{"iteration_start", loop.IterationStarted{}},
		{"diff", loop.DiffCaptured{}},
		{"inspection", loop.Inspected{}},
		{"checks", loop.ChecksFinished{}},
		{"warning", loop.Warned{}},
		{"session_start", loop.Started{}},
		{typeSessionEnd, loop.Finished{}},
		{"session_resume", loop.Resumed{}},
		{"baseline", loop.BaselineChecked{}},
		{"review_rejected", loop.ReviewRejected{}},
		{"turn_start", loop.TurnStarted{}},
		{"turn", loop.TurnFinished{}},
		{"note", loop.Noted{}},
		{"steer", loop.Steered{}},
		{"wait_start", loop.WaitStarted{}},
		{"wait_end", loop.WaitFinished{}},
	}
}

// typeOf returns the type of line of an event, "" for an event that has none.
func typeOf(e loop.Event) string {
	for _, k := range lineTypes() {
		if reflect.TypeOf(k.blank) == reflect.TypeOf(e) {
			return k.name
		}
	}
	return ""
}

// blank returns the empty event of a type of line, nil for an unknown type.
func blank(typ string) loop.Event {
	for _, k := range lineTypes() {
		if k.name == typ {
			return k.blank
		}
	}
	return nil
}

// event describes the fields of each type of line, except those that all lines have. It
// returns e with what f has read into it.
func event(f fields, e loop.Event) loop.Event { //nolint:gocyclo // one case for each event
	switch e := e.(type) {
	case loop.Started:
		f.text("prompt", &e.Session.Prompt)
		setting(f, &e.Session)
		return e
	case loop.Resumed:
		setting(f, &e.Session)
		f.value("iterations", &e.Iterations)
		f.value("judge", &e.Judge)
		f.value("rejudge,omitempty", &e.Rejudge)
		return e
	case loop.IterationStarted:
		number(f, &e.Iteration)
		return e
	case loop.PhaseEntered:
		number(f, &e.Iteration)
		f.value("state", (*state)(&e.State))
		return e
	case loop.Activity:
		activity(f, &e)
		return e
	case loop.WaitStarted:
		number(f, &e.Iteration)
		wait(f, &e.Role, &e.Wait)
		return e
	case loop.WaitFinished:
		number(f, &e.Iteration)
		wait(f, &e.Role, &e.Wait)
		duration(f, "duration_secs", &e.Wait.Duration)
		word(f, "ended", &e.Wait.End)
		return e
	case loop.ActorFinished:
		number(f, &e.Iteration)
		f.value("rejudged,omitempty", &e.Attempt.Rejudged)
		turn(f, "actor_", &e.Attempt.Turn)
		return e
	case loop.DiffCaptured:
		number(f, &e.Iteration)
		change(f, &e.Change, fileStat, unshownStat)
		return e
	case loop.Inspected:
		number(f, &e.Iteration)
		inspection(f, &e.Inspection)
		return e
	case loop.BaselineChecked:
		list(f, "checks", &e.Checks, check)
		return e
	case loop.ChecksFinished:
		number(f, &e.Iteration)
		list(f, "checks", &e.Checks, check)
		return e
	case loop.ReviewRejected:
		number(f, &e.Iteration)
		reviewTexts(f, &e.Review)
		judged(f, &e.Review)
		return e
	case loop.CriticFinished:
		number(f, &e.Iteration)
		judged(f, &e.Review)
		return e
	case loop.IterationFinished:
		iteration(f, &e.Round)
		return e
	case loop.TurnStarted:
		player(f, &e.Iteration, &e.Role, &e.Access)
		return e
	case loop.TurnFinished:
		player(f, &e.Iteration, &e.Role, &e.Access)
		reply(f, &e.Reply)
		vote(f, &e)
		return e
	case loop.Noted:
		note(f, &e)
		return e
	case loop.Steered:
		f.value("iteration_number,omitempty", &e.Iteration)
		word(f, "kind", &e.Kind)
		f.text("text,omitempty", &e.Text)
		return e
	case loop.Warned:
		f.value("iteration_number,omitempty", &e.Iteration)
		f.text("message", &e.Text)
		return e
	case loop.Finished:
		sessionEnd(f, &e.Outcome)
		return e
	}
	return e
}

func number(f fields, iteration *int) { f.value("iteration_number", iteration) }

func activity(f fields, a *loop.Activity) {
	number(f, &a.Iteration)
	word(f, "role", &a.Role)
	word(f, "kind", &a.Kind)
	f.text("stream", &a.Stream)
	f.text("text", &a.Text)
	f.value("added,omitempty", &a.Added)
	f.value("removed,omitempty", &a.Removed)
	optional(f, "look,omitempty", &a.Look, looked)
}

func looked(f fields, l *loop.Look) {
	f.value("files", &l.Files)
	f.value("added", &l.Added)
	f.value("removed", &l.Removed)
	list(f, "new", &l.New, func(f fields, s *loop.Seen) {
		f.text("path", &s.Path)
		word(f, "status,omitempty", &s.Status)
		f.value("binary,omitempty", &s.Binary)
		f.value("size,omitempty", &s.Size)
		f.value("added,omitempty", &s.Added)
		f.value("removed,omitempty", &s.Removed)
	})
}

// setting is what a session starts with, except the prompt.
func setting(f fields, s *loop.Session) {
	f.text("working_dir", &s.WorkingDir)
	f.text("actor_agent", &s.Actor.Agent)
	f.text("critic_agent", &s.Critic.Agent)
	f.text("actor_model,null", &s.Actor.Model)
	f.text("critic_model,null", &s.Critic.Model)
	f.value("max_iterations,null", &s.MaxIterations)

	schema := SchemaVersion
	f.value("schema_version", &schema)
	f.text("id,omitempty", &s.ID)
	f.text("version,omitempty", &s.Version)
	f.text("base_commit,omitempty", &s.BaseCommit)
	f.text("checkpoint,omitempty", &s.Checkpoint)
	f.text("checkpoints,omitempty", &s.Checkpoints)
	f.value("dirty_files,omitempty", &s.Dirty)
	f.value("judged,omitempty", &s.Judged)
	f.text("view,omitempty", &s.View)
	f.text("task,omitempty", &s.Task)
	f.text("strategy,omitempty", &s.Strategy.Name)
	list(f, "strategy_parameters,omitempty", &s.Strategy.Parameters, func(f fields, p *loop.Parameter) {
		f.text("key", &p.Key)
		f.text("value", &p.Value)
	})
	seldom(f, s)
}

// seldom describes what few sessions set.
func seldom(f fields, s *loop.Session) {
	agents(f, "actor_fallback,omitempty", &s.ActorFallback)
	agents(f, "critic_fallback,omitempty", &s.CriticFallback)
	policy(f, &s.Policy)
	list(f, "templates,omitempty", &s.Templates, func(f fields, t *loop.Template) {
		f.text("key", &t.Key)
		f.text("origin", &t.Origin)
		f.text("sha256", &t.SHA256)
	})
	list(f, "rules,omitempty", &s.Rules, func(f fields, r *loop.Rule) {
		f.text("key", &r.Key)
		f.texts("values,omitempty", &r.Values)
		f.text("origin", &r.Origin)
	})
	list(f, "deciders,omitempty", &s.Deciders, func(f fields, d *loop.Decider) {
		f.text("path", &d.Path)
		f.text("role", &d.Role)
		f.text("sha256,omitempty", &d.SHA256)
	})
	list(f, "flags,omitempty", &s.Flags, func(f fields, x *loop.Flag) {
		f.text("name", &x.Name)
		f.texts("values,omitempty", &x.Values)
		f.value("hidden,omitempty", &x.Hidden)
	})
}

// agents maps a list of agents, each with its model if one was asked for.
func agents(f fields, tag string, p *[]loop.AgentRef) {
	list(f, tag, p, func(f fields, a *loop.AgentRef) {
		f.text("agent", &a.Agent)
		f.text("model,omitempty", &a.Model)
	})
}

// policy is the settings of the run's rules; a run without any has none.
func policy(f fields, p *loop.Policy) {
	p.ApprovalThreshold = finite(p.ApprovalThreshold)
	f.object("policy,omitempty", !reflect.ValueOf(*p).IsZero(), func(f fields) {
		f.text("profile,omitempty", &p.Profile)
		fraction(f, "approval_threshold,omitempty", &p.ApprovalThreshold)
		f.value("require_change,omitempty", &p.RequireChange)
		f.text("open_findings,omitempty", &p.OpenFindings)
		f.text("late_findings,omitempty", &p.LateFindings)
		f.value("no_auto_revise,omitempty", &p.NoAutoRevise)
		f.text("on_violation,omitempty", &p.OnViolation)
		f.texts("critic_decisions,omitempty", &p.CriticDecisions)
		optional(f, "critique,omitempty", &p.Critique, func(f fields, c *loop.CritiquePolicy) {
			f.texts("risk_types,omitempty", &c.RiskTypes)
			f.texts("high_risk_types,omitempty", &c.HighRiskTypes)
			f.value("max_risks,omitempty", &c.MaxRisks)
			f.value("max_required_changes,omitempty", &c.MaxRequiredChanges)
			f.text("required_changes_fallback,omitempty", &c.Fallback)
		})
		optional(f, "convergence,omitempty", &p.Convergence, func(f fields, v *loop.ConvergencePolicy) {
			f.value("warn_after,omitempty", &v.WarnAfter)
			f.value("stop_after,omitempty", &v.StopAfter)
			fraction(f, "similarity,omitempty", &v.Similarity)
		})
		optional(f, "panel,omitempty", &p.Panel, func(f fields, m *loop.PanelPolicy) {
			agents(f, "members", &m.Members)
			f.value("quorum", &m.Quorum)
			f.value("rounds", &m.Rounds)
		})
	})
}

func iteration(f fields, r *loop.Round) {
	number(f, &r.Iteration)
	f.bulk("actor_output", &r.Attempt.Stdout.Text, "")
	f.bulk("actor_stderr", &r.Attempt.Stderr.Text, "")
	f.value("rejudged,omitempty", &r.Attempt.Rejudged)
	turn(f, "actor_", &r.Attempt.Turn)
	patches(f, &r.Change)
	optional(f, "own,omitempty", &r.Own, patches)
	word(f, "critic_decision", &r.Verdict.Decision)
	f.text("feedback,null", &r.Verdict.Feedback)

	verdict(f, &r.Verdict)
	// What the critic said differs from what counts only if a rule of the run
	// overruled it.
	said := r.Review.Verdict
	if !f.object("critic_verdict,omitempty", !reflect.DeepEqual(said, r.Verdict), func(f fields) { decision(f, &said) }) {
		said = r.Verdict
	}
	reviewTexts(f, &r.Review)
	review(f, &r.Review)
	r.Review.Verdict = said
	f.value("unjudged,omitempty", &r.Unjudged)
	inspection(f, &r.Inspection)
	ruling(f, &r.Ruling)
	list(f, "checks,omitempty", &r.Checks, check)
	word(f, "failure,omitempty", &r.Failure)
	duration(f, "duration_secs", &r.Duration)
	list(f, "trace,omitempty", &r.Trace, func(f fields, p *loop.Phase) {
		f.value("state", (*state)(&p.State))
		duration(f, "duration_secs", &p.Duration)
		duration(f, "waited_secs,omitempty", &p.Waited)
		f.value("turns,omitempty", &p.Turns)
	})
}

func sessionEnd(f fields, o *loop.Outcome) {
	word(f, "outcome", &o.Result)
	f.value("iterations", &o.Iterations)
	f.text("summary,null", &o.Summary)
	fraction(f, "confidence,null", &o.Confidence)
	duration(f, "duration_secs", &o.Duration)
	word(f, "stop_reason,omitempty", &o.Reason)
	f.text("stop_cause,omitempty", &o.Cause)
	f.value("findings_unmentioned,omitempty", &o.Unmentioned)
	f.value("nothing_changed,omitempty", &o.NothingChanged)
	f.text("actor_error,omitempty", &o.ActorError)
}

// Package debuglog writes a run's events as log lines for debugging: one line each, with times and
// sizes instead of texts.
package debuglog

import (
	"io"
	"time"

	"github.com/rs/zerolog"

	"codeloops/internal/loop"
)

// New returns a sink that writes to w. Handle returns write errors.
func New(w io.Writer) *Log {
	out := &checked{w: w}
	return &Log{log: zerolog.New(out), out: out}
}

// A Log is the [loop.Sink] that writes the lines.
type Log struct {
	log zerolog.Logger
	out *checked
}

// checked keeps write errors from zerolog, which would print them itself.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	_, c.err = c.w.Write(p)
	return len(p), nil
}

// Say writes a sentence that belongs to no event.
func (s *Log) Say(at time.Time, sentence string) { s.log.Log().Time("time", at).Msg(sentence) }

// Handle writes the line of an event.
func (s *Log) Handle(at loop.Stamp, e loop.Event) error {
	if _, often := e.(loop.Activity); often {
		return nil
	}
	line := s.log.Log().Time("time", at.Time).Int("seq", at.Seq)
	if at.Step != "" {
		line.Str("step", string(at.Step))
	}
	describe(line, e)
	return s.out.err
}

// describe completes and sends one line.
func describe(l *zerolog.Event, e loop.Event) {
	switch e := e.(type) {
	case loop.Started:
		l.Str("session", e.Session.ID).Str("dir", e.Session.WorkingDir).
			Str("actor", e.Session.Actor.Agent).Str("critic", e.Session.Critic.Agent).
			Str("version", e.Session.Version).Msg("started")
	case loop.Resumed:
		l.Str("session", e.Session.ID).Int("iterations", e.Iterations).Bool("judge", e.Judge).Bool("rejudge", e.Rejudge).Msg("resumed")
	case loop.IterationStarted:
		l.Int("iteration", e.Iteration).Msg("iteration")
	case loop.PhaseEntered:
		l.Int("iteration", e.Iteration).Stringer("state", e.State).Msg("phase")
	case loop.DiffCaptured:
		l.Int("iteration", e.Iteration).Int("files", e.Change.Shape().Files).
			Int("insertions", e.Change.Insertions).Int("deletions", e.Change.Deletions).
			Str("state", e.Change.State).Strs("warnings", e.Change.Warnings).Msg("diff captured")
	case loop.Inspected:
		l.Int("iteration", e.Iteration).Strs("concerns", concerns(e.Inspection)).Msg("inspected")
	case loop.BaselineChecked:
		checks(l, e.Checks).Msg("baseline checked")
	case loop.ChecksFinished:
		checks(l.Int("iteration", e.Iteration), e.Checks).Msg("checks finished")
	case loop.IterationFinished:
		l.Int("iteration", e.Round.Iteration).Str("decision", string(e.Round.Verdict.Decision)).
			Str("failure", string(e.Round.Failure)).Str("rule", e.Round.Rule).Dur("took_ms", e.Round.Duration).Msg("iteration finished")
	case loop.Noted:
		l.Int("iteration", e.Iteration).Str("text", e.Text).Msg(e.Name)
	case loop.Warned:
		l.Int("iteration", e.Iteration).Str("warning", e.Text).Msg("warning")
	case loop.Finished:
		l.Str("outcome", string(e.Outcome.Result)).Str("stop_reason", string(e.Outcome.Reason)).
			Int("iterations", e.Outcome.Iterations).Dur("took_ms", e.Outcome.Duration).Msg("finished")
	case loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.ReviewRejected, loop.CriticFinished, loop.TurnStarted, loop.TurnFinished, loop.Activity, loop.Steered:
		describeTurn(l, e)
	}
}

// describeTurn is describe for the events of agents' turns.
func describeTurn(l *zerolog.Event, e loop.Event) {
	switch e := e.(type) { //nolint:gochecksumtype // describe has the others
	case loop.WaitStarted:
		wait(l.Int("iteration", e.Iteration), e.Role, e.Wait).Time("until", e.Wait.Until).Msg("wait")
	case loop.WaitFinished:
		wait(l.Int("iteration", e.Iteration), e.Role, e.Wait).Dur("took_ms", e.Wait.Duration).Str("ended", string(e.Wait.End)).Msg("wait finished")
	case loop.ActorFinished:
		turn(l.Int("iteration", e.Iteration), e.Attempt.Turn).Msg("actor finished")
	case loop.ReviewRejected:
		turn(l.Int("iteration", e.Iteration), e.Review.Turn).Str("problem", e.Review.Problem).Msg("critic asked again")
	case loop.CriticFinished:
		turn(l.Int("iteration", e.Iteration), e.Review.Turn).Str("problem", e.Review.Problem).
			Str("decision", string(e.Review.Verdict.Decision)).Msg("critic finished")
	case loop.TurnStarted:
		l.Str("role", string(e.Role)).Stringer("access", e.Access).Msg("turn")
	case loop.TurnFinished:
		turn(l.Str("role", string(e.Role)), e.Reply.Turn).Msg("turn finished")
	case loop.Steered:
		l.Int("iteration", e.Iteration).Str("kind", string(e.Kind)).Str("text", e.Text).Msg("steered")
	}
}

func concerns(i loop.Inspection) []string {
	texts := make([]string, len(i.Concerns))
	for n, c := range i.Concerns {
		texts[n] = c.Rule + ": " + c.Summary(500)
	}
	return texts
}

func checks(l *zerolog.Event, results []loop.CheckResult) *zerolog.Event {
	list := l.CreateArray()
	for _, c := range results {
		list.Dict(l.CreateDict().Str("command", c.Command).Int("exit", c.ExitCode).Dur("took_ms", c.Duration).
			Strs("changed", c.Changed).Strs("rewrites", c.Rewrites).Strs("lacked", c.Lacked))
	}
	return l.Array("checks", list)
}

func wait(l *zerolog.Event, role loop.Role, w loop.Wait) *zerolog.Event {
	return l.Str("role", string(role)).Str("agent", w.Agent.Agent).Str("cause", string(w.Cause)).Str("reason", w.Reason)
}

func turn(l *zerolog.Event, t loop.Turn) *zerolog.Event {
	return l.Str("ending", string(t.Ending)).Int("exit", t.ExitCode).Dur("took_ms", t.Duration).
		Int64("stdout", t.Stdout.Total).Int64("stderr", t.Stderr.Total).Int("leftovers", len(t.Leftovers))
}

package eval

import (
	"errors"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
)

// A history is what a log tells of a session's critic.
type history struct {
	session loop.Session
	began   time.Time
	rounds  []round
	said    []loop.Steered
	before  []loop.CheckResult
	success bool
}

// A round is an iteration, with what its critic has cost.
type round struct {
	loop.Round
	spent progress.Part
}

var errNoStart = errors.New("it has no beginning that can be read")

// read reads a log.
func read(path string) (h history, err error) {
	var state progress.State
	var was progress.Part
	var heard *round // a verdict after which the process was killed
	for entry, err := range session.Sound(session.Read(path), nil) {
		if err != nil {
			return h, err
		}
		_ = state.Handle(entry.At, entry.Event) // never fails
		switch e := entry.Event.(type) {        //nolint:gochecksumtype // the others tell nothing of a critic
		case loop.Started:
			h.began = entry.At.Time
		case loop.Steered:
			h.said = append(h.said, e)
		case loop.BaselineChecked:
			h.before = e.Checks
		case loop.CriticFinished:
			heard = &round{loop.Round{Iteration: e.Iteration, Review: e.Review, Ruling: loop.Ruling{Verdict: e.Review.Verdict}}, minus(state.Critic, was)}
		case loop.IterationFinished:
			h.rounds, heard = append(h.rounds, round{e.Round, minus(state.Critic, was)}), nil
			was = state.Critic
		}
	}
	if h.began.IsZero() {
		return h, errNoStart
	}
	h.session, h.success = state.Origin, state.Outcome != nil && state.Outcome.Result == loop.Success
	if heard != nil {
		h.rounds = append(h.rounds, *heard)
	}
	return h, nil
}

// minus returns what was added since.
func minus(now, was progress.Part) progress.Part {
	now.Time -= was.Time
	now.Usage.CostUSD -= was.Usage.CostUSD
	now.Usage.Priced -= was.Usage.Priced
	tokens := now.Usage.Tokens.All() - was.Usage.Tokens.All()
	now.Usage.Tokens = loop.Tokens{Input: tokens}
	return now
}

// verdict is what the critic of a round says.
func (r round) verdict(critic string) Verdict {
	v := Verdict{Critic: critic, Tokens: r.spent.Usage.Tokens.All(), Seconds: r.spent.Time.Seconds(), Problem: r.Review.Problem, Ruling: r.Verdict.Decision}
	if r.Review.Problem == "" {
		v.Decision, v.Escalate = r.Review.Verdict.Decision, r.Review.Verdict.Escalation != ""
	}
	if r.spent.Usage.Priced > 0 {
		v.CostUSD = &r.spent.Usage.CostUSD
	}
	return v
}

// words returns what the user had said to the actor when an iteration was judged.
func (h history) words(iteration int) (all []string) {
	for _, s := range h.said {
		if s.Text != "" && s.Iteration <= iteration {
			all = append(all, s.Text)
		}
	}
	return all
}

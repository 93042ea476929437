package session

import (
	"math"
	"time"

	"codeloops/internal/loop"
)

// A turn is what is known of an agent's turn, except what the agent wrote. Those of the actor and the
// critic are the same with other names.
type turn struct {
	ID            string         `json:"turn_id,omitzero"`
	SessionID     string         `json:"session_id,omitzero"`
	ExitCode      int            `json:"exit_code"`
	Duration      time.Duration  `json:"duration_secs"`
	Ending        *loop.Ending   `json:"ending"`
	Reason        string         `json:"reason,omitzero"`
	ResetAt       time.Time      `json:"reset_at,omitzero"`
	Conversation  string         `json:"conversation,omitzero"`
	Resumed       bool           `json:"resumed,omitzero"`
	Usage         *loop.Usage    `json:"usage"`
	Agent         string         `json:"agent,omitzero"`
	Model         string         `json:"model,omitzero"`
	Misses        []try          `json:"misses,omitempty"`
	Leftovers     []loop.Process `json:"leftovers,omitempty"`
	Failures      []loop.Failure `json:"failures,omitempty"`
	Futile        bool           `json:"futile,omitzero"`
	OutputTotal   int64          `json:"output_total,omitzero"`
	OutputOmitted int64          `json:"output_omitted,omitzero"`
	OutputFile    string         `json:"output_file,omitzero"`
	StderrTotal   int64          `json:"stderr_total,omitzero"`
	StderrOmitted int64          `json:"stderr_omitted,omitzero"`
	StderrFile    string         `json:"stderr_file,omitzero"`
	LateTotal     int64          `json:"late_total,omitzero"`
	LateFile      string         `json:"late_file,omitzero"`
}

type actorTurn struct {
	ID            string         `json:"actor_turn_id,omitzero"`
	SessionID     string         `json:"actor_session_id,omitzero"`
	ExitCode      int            `json:"actor_exit_code"`
	Duration      time.Duration  `json:"actor_duration_secs"`
	Ending        *loop.Ending   `json:"actor_ending"`
	Reason        string         `json:"actor_reason,omitzero"`
	ResetAt       time.Time      `json:"actor_reset_at,omitzero"`
	Conversation  string         `json:"actor_conversation,omitzero"`
	Resumed       bool           `json:"actor_resumed,omitzero"`
	Usage         *loop.Usage    `json:"actor_usage"`
	Agent         string         `json:"actor_agent,omitzero"`
	Model         string         `json:"actor_model,omitzero"`
	Misses        []try          `json:"actor_misses,omitempty"`
	Leftovers     []loop.Process `json:"actor_leftovers,omitempty"`
	Failures      []loop.Failure `json:"actor_failures,omitempty"`
	Futile        bool           `json:"actor_futile,omitzero"`
	OutputTotal   int64          `json:"actor_output_total,omitzero"`
	OutputOmitted int64          `json:"actor_output_omitted,omitzero"`
	OutputFile    string         `json:"actor_output_file,omitzero"`
	StderrTotal   int64          `json:"actor_stderr_total,omitzero"`
	StderrOmitted int64          `json:"actor_stderr_omitted,omitzero"`
	StderrFile    string         `json:"actor_stderr_file,omitzero"`
	LateTotal     int64          `json:"actor_late_total,omitzero"`
	LateFile      string         `json:"actor_late_file,omitzero"`
}

type criticTurn struct {
	ID            string         `json:"critic_turn_id,omitzero"`
	SessionID     string         `json:"critic_session_id,omitzero"`
	ExitCode      int            `json:"critic_exit_code"`
	Duration      time.Duration  `json:"critic_duration_secs"`
	Ending        *loop.Ending   `json:"critic_ending"`
	Reason        string         `json:"critic_reason,omitzero"`
	ResetAt       time.Time      `json:"critic_reset_at,omitzero"`
	Conversation  string         `json:"critic_conversation,omitzero"`
	Resumed       bool           `json:"critic_resumed,omitzero"`
	Usage         *loop.Usage    `json:"critic_usage"`
	Agent         string         `json:"critic_agent,omitzero"`
	Model         string         `json:"critic_model,omitzero"`
	Misses        []try          `json:"critic_misses,omitempty"`
	Leftovers     []loop.Process `json:"critic_leftovers,omitempty"`
	Failures      []loop.Failure `json:"critic_failures,omitempty"`
	Futile        bool           `json:"critic_futile,omitzero"`
	OutputTotal   int64          `json:"critic_output_total,omitzero"`
	OutputOmitted int64          `json:"critic_output_omitted,omitzero"`
	OutputFile    string         `json:"critic_output_file,omitzero"`
	StderrTotal   int64          `json:"critic_stderr_total,omitzero"`
	StderrOmitted int64          `json:"critic_stderr_omitted,omitzero"`
	StderrFile    string         `json:"critic_stderr_file,omitzero"`
	LateTotal     int64          `json:"critic_late_total,omitzero"`
	LateFile      string         `json:"critic_late_file,omitzero"`
}

func turnOf(t loop.Turn) turn {
	return turn{
		ID: t.ID, SessionID: t.SessionID, ExitCode: t.ExitCode, Duration: t.Duration, Ending: &t.Ending, Reason: t.Reason, ResetAt: t.ResetAt,
		Conversation: t.Conversation, Resumed: t.Resumed, Usage: usageOf(t.Usage), Agent: t.Agent.Agent, Model: t.Agent.Model,
		Misses: each(t.Misses, tryOf), Leftovers: t.Leftovers, Failures: t.Failures, Futile: t.Futile,
		OutputTotal: t.Stdout.Total, OutputOmitted: t.Stdout.Omitted, OutputFile: t.Stdout.File,
		StderrTotal: t.Stderr.Total, StderrOmitted: t.Stderr.Omitted, StderrFile: t.Stderr.File,
		LateTotal: t.Late.Total, LateFile: t.Late.File,
	}
}

func (t turn) loop() loop.Turn {
	return loop.Turn{
		ID: t.ID, SessionID: t.SessionID, ResetAt: t.ResetAt, Conversation: t.Conversation,
		Try: loop.Try{
			Agent: loop.AgentRef{Agent: t.Agent, Model: t.Model}, Resumed: t.Resumed, Ending: orZero(t.Ending), Reason: t.Reason, Usage: usageIn(t.Usage),
		},
		Misses: each(t.Misses, try.loop),
		Execution: loop.Execution{
			Stdout:   loop.Output{Total: t.OutputTotal, Omitted: t.OutputOmitted, File: t.OutputFile},
			Stderr:   loop.Output{Total: t.StderrTotal, Omitted: t.StderrOmitted, File: t.StderrFile},
			ExitCode: t.ExitCode, Duration: t.Duration, Leftovers: t.Leftovers, Late: loop.Late{Total: t.LateTotal, File: t.LateFile},
			Failures: t.Failures, Futile: t.Futile,
		},
	}
}

// A try is one that failed.
type try struct {
	loop.Try
	Usage *loop.Usage `json:"usage"`
}

func tryOf(t loop.Try) try { return try{t, usageOf(t.Usage)} }

func (t try) loop() loop.Try {
	t.Try.Usage = usageIn(t.Usage)
	return t.Try
}

// usageOf returns what a turn cost; nil if the agent reported nothing.
func usageOf(u loop.Usage) *loop.Usage { return orNull(loggedUsage(u)) }

func usageIn(u *loop.Usage) loop.Usage { return loggedUsage(orZero(u)) }

// loggedUsage clears the marks of estimates that are missing.
func loggedUsage(u loop.Usage) loop.Usage {
	u.CostUSD = finite(u.CostUSD)
	u.TokensEstimated = u.TokensEstimated && u.Tokens != nil
	u.CostEstimated = u.CostEstimated && u.CostUSD != nil
	return u
}

// finite returns a number, nil if JSON has none for it.
func finite(p *float64) *float64 {
	if p == nil || math.IsNaN(*p) || math.IsInf(*p, 0) {
		return nil
	}
	return p
}

// A player plays a turn of a strategy.
type player struct {
	Iteration int       `json:"iteration_number,omitzero"`
	Role      loop.Role `json:"role"`
	Write     bool      `json:"write,omitzero"`
}

func (p player) access() loop.Access {
	if p.Write {
		return loop.Write
	}
	return loop.ReadOnly
}

type plays struct{ player }

func playsOf(e loop.TurnStarted) plays {
	return plays{player{e.Iteration, e.Role, e.Access == loop.Write}}
}

func (p plays) event() loop.TurnStarted {
	return loop.TurnStarted{Iteration: p.Iteration, Role: p.Role, Access: p.access()}
}

type played struct {
	player
	turn
	Output string  `json:"output"`
	Stderr string  `json:"stderr"`
	Reply  *string `json:"reply,omitzero"` // nil: it is all of the output
	Review *vote   `json:"review,omitzero"`
}

// A vote is the result of a panel member's turn.
type vote struct {
	State string `json:"state"` // of the work tree
	loop.Review
	loop.Verdict
}

func playedOf(e loop.TurnFinished) played {
	r := e.Reply
	line := played{player{e.Iteration, e.Role, e.Access == loop.Write}, turnOf(r.Turn), r.Stdout.Text, r.Stderr.Text, unless(r.Text, r.Stdout.Text), nil}
	if e.Review != nil {
		line.Review = &vote{e.State, *e.Review, e.Review.Verdict}
		line.Review.Votes = nil
	}
	return line
}

func (p played) event() loop.TurnFinished {
	e := loop.TurnFinished{Iteration: p.Iteration, Role: p.Role, Access: p.access(), Reply: loop.Reply{Turn: p.loop(), Text: p.Output}}
	e.Reply.Stdout.Text, e.Reply.Stderr.Text = p.Output, p.Stderr
	if p.Reply != nil {
		e.Reply.Text = *p.Reply
	}
	if p.Review != nil {
		e.State, e.Review = p.Review.State, &p.Review.Review
		e.Review.Verdict = p.Review.Verdict
	}
	return e
}

// unless returns a text, nil if it equals another one.
func unless(text, other string) *string {
	if text == other {
		return nil
	}
	return &text
}

// A noted is the result of a strategy's step that is not an agent's turn.
type noted struct {
	Iteration int    `json:"iteration_number,omitzero"`
	Name      string `json:"name"`
	Text      string `json:"text,omitzero"`
	stat
	Checks []loop.CheckResult `json:"checks,omitempty"`
}

func notedOf(e loop.Noted) noted {
	return noted{e.Iteration, e.Name, e.Text, statOf(e.Change), e.Checks}
}

func (n noted) event() loop.Noted {
	return loop.Noted{Iteration: n.Iteration, Name: n.Name, Text: n.Text, Change: n.change(), Checks: n.Checks}
}

type acted struct {
	Iteration int  `json:"iteration_number"`
	Rejudged  bool `json:"rejudged,omitzero"`
	actorTurn
}

func actedOf(e loop.ActorFinished) acted {
	return acted{e.Iteration, e.Attempt.Rejudged, actorTurn(turnOf(e.Attempt.Turn))}
}

func (a acted) event() loop.ActorFinished {
	return loop.ActorFinished{Iteration: a.Iteration, Attempt: loop.Attempt{Turn: turn(a.actorTurn).loop(), Rejudged: a.Rejudged}}
}

// criticTexts are what the critic wrote.
type criticTexts struct {
	Output string  `json:"critic_output"`
	Stderr string  `json:"critic_stderr"`
	Reply  *string `json:"critic_reply,omitzero"` // nil: it is all of the output
}

func criticTextsOf(r loop.Review) criticTexts {
	return criticTexts{r.Stdout.Text, r.Stderr.Text, unless(r.Reply, r.Stdout.Text)}
}

// review completes a review, which lacks the turn.
func (c criticTexts) review(r loop.Review, t turn) loop.Review {
	r.Turn, r.Reply = t.loop(), c.Output
	r.Stdout.Text, r.Stderr.Text = c.Output, c.Stderr
	if c.Reply != nil {
		r.Reply = *c.Reply
	}
	return r
}

// A judged is the critic's part of an iteration, except what the critic wrote.
type judged struct {
	Iteration int `json:"iteration_number"`
	criticTurn
	loop.Review
	loop.Verdict
}

func judgedOf(e loop.CriticFinished) judged {
	return judged{e.Iteration, criticTurn(turnOf(e.Review.Turn)), e.Review, e.Review.Verdict}
}

func (j judged) event() loop.CriticFinished {
	j.Review.Verdict = j.Verdict
	return loop.CriticFinished{Iteration: j.Iteration, Review: criticTexts{}.review(j.Review, turn(j.criticTurn))}
}

type rejection struct {
	Iteration int `json:"iteration_number"`
	criticTexts
	criticTurn
	loop.Review
	loop.Verdict
}

func rejectionOf(e loop.ReviewRejected) rejection {
	return rejection{e.Iteration, criticTextsOf(e.Review), criticTurn(turnOf(e.Review.Turn)), e.Review, e.Review.Verdict}
}

func (r rejection) event() loop.ReviewRejected {
	r.Review.Verdict = r.Verdict
	return loop.ReviewRejected{Iteration: r.Iteration, Review: r.review(r.Review, turn(r.criticTurn))}
}

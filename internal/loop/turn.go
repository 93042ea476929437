package loop

import (
	"strings"
	"time"
)

// A Role is the part that an agent plays in a turn.
type Role string

// The roles of every run.
const (
	RoleActor  Role = "actor"
	RoleCritic Role = "critic"
)

// An AgentRef names an agent of the catalogue or of the user's own, and the model asked for (""
// is the agent's default).
type AgentRef struct {
	Agent string `json:"agent"`
	Model string `json:"model,omitzero"`
}

// ParseAgent reads an agent as the configuration spells it: "claude" or "claude:haiku".
func ParseAgent(entry string) (a AgentRef) {
	a.Agent, a.Model, _ = strings.Cut(entry, ":")
	return a
}

// String spells the agent like that.
func (a AgentRef) String() string {
	if a.Model == "" {
		return a.Agent
	}
	return a.Agent + ":" + a.Model
}

// A Brief is what the actor is asked in one turn.
type Brief struct {
	Iteration int
	Step      Step   // of the turn
	ID        string // of the turn; see [Turn.ID]
	Task      string // the user's prompt, or the current part of it, and what the user has said since
	Role      Role   // whose agent plays; "": the actor's
	// Conversation is that of the actor's last turn, which may be continued; the zero value is
	// none.
	Conversation Conversation
	// Previous is the round before this one; nil in the first iteration.
	Previous *Round
	// Baseline holds the results of the checks before the session, if they were run then.
	Baseline []CheckResult
}

// An Ending says how an agent's turn ended.
type Ending string

// The endings of a turn. EndCompleted is the only good one: the agent's process exited with code
// 0, and its output reports no failure.
const (
	EndCompleted   Ending = "completed"
	EndEmpty       Ending = "empty"        // exit code 0, but the required final text is missing
	EndFailed      Ending = "failed"       // another exit code, a foreign signal, or the agent reports a failure
	EndTimedOut    Ending = "timed_out"    // stopped: the turn's time limit
	EndIdle        Ending = "idle"         // stopped: no output for the idle limit
	EndSpinning    Ending = "spinning"     // stopped: its model was asked again and again, and nothing came of it
	EndOutputLimit Ending = "output_limit" // stopped: more output than max_output
	EndInterrupted Ending = "interrupted"  // stopped: the run was cancelled

	// The agent itself reports what went wrong.
	EndAuth             Ending = "auth"              // not signed in
	EndRateLimited      Ending = "rate_limited"      // see Turn.ResetAt
	EndOutOfCredit      Ending = "out_of_credit"     // nothing is left to pay the model with
	EndOverloaded       Ending = "overloaded"        // the model's service is overloaded, or the network fails
	EndContextTooLong   Ending = "context_too_long"  // the prompt is too long for the model
	EndPermissionDenied Ending = "permission_denied" // not allowed to do its work
)

// Cut reports whether codeloops stopped the turn before the agent had finished.
func (e Ending) Cut() bool {
	return e == EndTimedOut || e == EndIdle || e == EndSpinning || e == EndOutputLimit || e == EndInterrupted
}

// Stuck reports whether the agent itself says that it could not work.
func (e Ending) Stuck() bool {
	switch e {
	case EndAuth, EndRateLimited, EndOutOfCredit, EndOverloaded, EndContextTooLong, EndPermissionDenied:
		return true
	case EndCompleted, EndEmpty, EndFailed, EndTimedOut, EndIdle, EndSpinning, EndOutputLimit, EndInterrupted:
	}
	return false
}

// An Output is what is kept of one output stream: all of it, or its head and its tail with a line
// between them that says what was left out.
type Output struct {
	Text    string `json:"output"`
	Total   int64  `json:"output_total,omitzero"`   // bytes written by the process
	Omitted int64  `json:"output_omitted,omitzero"` // bytes missing from Text
	File    string `json:"output_file,omitzero"`    // holds all of it if Omitted > 0
}

// A Process is a process that an agent left running when its turn ended.
type Process struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// Late is output that came after the agent's own process had ended. It is ignored.
type Late struct {
	Total int64  // bytes, as far as known
	File  string // file that holds them
}

// A Turn is a finished turn of an agent in any role.
type Turn struct {
	// ID identifies a turn within the session, however often it is played:
	// <session>__<role>_<iteration>, followed by _<n> when a critic is asked the nth time in an
	// iteration. "" if the session has no ID.
	ID string
	// Try is the try that counts; Misses are the failed ones before it, oldest first.
	Try
	Misses []Try
	Execution

	// ResetAt is when the rate limit ends; zero if the agent does not say.
	ResetAt time.Time
	// Conversation is the agent's own name for its session; "" if it reports none.
	Conversation string
	// SessionID is the UUID that the agent was told to use for its session; "" if it accepts
	// none, or continued a conversation.
	SessionID string
}

// A Try is one agent's try at a turn. After a failed one, another agent or a new conversation
// takes over.
type Try struct {
	Agent   AgentRef `json:",embed"`
	Resumed bool     `json:"resumed,omitzero"` // it was to continue an earlier conversation
	Ending  Ending   `json:"ending"`
	Reason  string   `json:"reason,omitzero"` // the agent's own words on a bad ending; "" if it has none
	Usage   Usage    `json:"usage"`
}

// An Execution is the result of an agent's process.
type Execution struct {
	Stdout   Output
	Stderr   Output
	ExitCode int // -1 when a signal ended the process
	Duration time.Duration
	// Leftovers are the processes that were still running when the agent's own process had ended.
	// They have been killed since.
	Leftovers []Process
	// Late is what they printed afterwards.
	Late Late
	// Failures are the agent's failed commands and denied actions, as far as its events tell.
	Failures []Failure
	// Futile: the agent used tools, and each time they failed or were denied.
	Futile bool
}

// Blocked reports whether the agent could not work at all, and cannot until something outside of
// the run changes. Such a turn does not count and has to be played again.
func (t Turn) Blocked() bool {
	return t.Ending == EndAuth || t.Ending == EndRateLimited || t.Ending == EndOutOfCredit || t.Ending == EndPermissionDenied && t.Usage.Tokens == nil
}

// An Attempt is one turn of the actor, without the change it made.
type Attempt struct {
	Turn
	// Rejudged: this is the attempt of the previous iteration, which has no verdict yet. No turn
	// was played, so it used nothing.
	Rejudged bool
}

// again returns the attempt for an iteration that only judges it.
func (a Attempt) again() *Attempt {
	a.Rejudged = true
	a.Duration, a.Misses = 0, nil
	a.Usage = Usage{Tokens: &Tokens{}, CostUSD: new(0.0), Rounds: new(0)}
	return &a
}

// A CheckResult is the result of one of the project's own check commands.
type CheckResult struct {
	Command  string        `json:"command"`
	ExitCode int           `json:"exit_code"` // -1 if a signal ended it
	Ending   Ending        `json:"ending"`
	Duration time.Duration `json:"duration_secs"`
	Output   Output        `json:",embed"` // stdout and stderr, interleaved

	// FailedBefore: it also failed when the session began.
	FailedBefore bool `json:"failed_before,omitzero"`
	// Changed lists what the check changed or removed of the work that it was to judge. Such a
	// check has not passed, however it ended.
	Changed []string `json:"changed,omitempty"`
	// Rewrites lists what it changed or removed of other files, each time that it is run: a lock
	// file, generated code. That decides nothing.
	Rewrites []string `json:"rewrites,omitempty"`
	// Written is everything that it wrote in its view of the work tree. It is not logged
	// separately.
	Written Written `json:"-"`
	// Lacked lists files of earlier checks that were removed before this one, which did not pass.
	Lacked []string `json:"lacked,omitempty"`
	// Witness is set for what the new tests did on the code as it was when the session began, and says
	// it. The output is that of a check there.
	Witness string `json:"witness,omitzero"`
}

// Passed reports whether the check exited with code 0 and did not change what it was to judge.
func (c CheckResult) Passed() bool {
	return c.Ending == EndCompleted && c.ExitCode == 0 && len(c.Changed) == 0
}

// Remarks returns what else there is to know about the result, as sentences.
func (c CheckResult) Remarks() (sentences []string) {
	if len(c.Changed) > 0 {
		sentences = append(sentences, "it changed what it was to judge: "+listed(c.Changed))
	}
	if len(c.Rewrites) > 0 {
		sentences = append(sentences, "the check rewrites "+listed(c.Rewrites)+", which is thrown away")
	}
	if len(c.Lacked) > 0 {
		sentences = append(sentences, "it may need files of an earlier check, which were removed ("+listed(c.Lacked)+
			"): let git ignore them, or combine the two checks")
	}
	if c.Witness != "" {
		sentences = append(sentences, c.Witness)
	}
	return sentences
}

// A Notice is something that an agent does or prints during its turn.
type Notice struct {
	Kind NoticeKind `json:"kind"`
	// Stream is "stdout" or "stderr" for output, else "".
	Stream string `json:"stream"`
	// Text is the output, in whole lines if the agent writes lines, or a line that describes the
	// action.
	Text string `json:"text"`
	// Added and Removed count the lines of an edit, if the agent reports them.
	Added   int `json:"added,omitzero"`
	Removed int `json:"removed,omitzero"`
	// Look is set for NoticeLook, which has no text.
	Look *Look `json:"look,omitzero"`
	// Wait is set when the agent starts or stops waiting. Such a notice becomes an event of its
	// own, not an [Activity].
	Wait *Wait `json:"-"`
}

// A NoticeKind says what a notice is about.
type NoticeKind string

// The kinds of notices.
const (
	NoticeOutput  NoticeKind = "output"  // raw output
	NoticeMessage NoticeKind = "message" // a message of the model
	NoticeTool    NoticeKind = "tool"    // a tool call: its name and its target
	NoticeCommand NoticeKind = "command" // a command is run
	NoticeEdit    NoticeKind = "edit"    // a file is changed
	NoticeProblem NoticeKind = "problem" // an error that the agent handles by itself
	NoticeLook    NoticeKind = "look"    // the state of the work tree, not reported by the agent
	NoticeChange  NoticeKind = "change"  // another agent, or a new conversation, takes the turn over
)

// A Watch receives what an agent does during its turn. It may be called from any goroutine, but
// never concurrently.
type Watch func(Notice)

// A Wait is a pause during a turn because a service is unavailable; it is asked again when the
// wait is over.
type Wait struct {
	Agent  AgentRef  `json:",embed"`          // whose service it is
	Cause  Ending    `json:"cause"`           // [EndRateLimited] or [EndOverloaded]
	Reason string    `json:"reason,omitzero"` // the agent's own words, "" if it has none
	Until  time.Time `json:"until"`           // planned end

	// The result; zero while it lasts.
	Duration time.Duration `json:"-"`
	End      WaitEnd       `json:"-"`
}

// A WaitEnd says what ended a wait.
type WaitEnd string

// The ends of a wait.
const (
	WaitOver        WaitEnd = "over"        // the time was up
	WaitHurried     WaitEnd = "hurried"     // the user did not want to wait
	WaitInterrupted WaitEnd = "interrupted" // the run was cancelled
)

// WaitStarted says that a turn is waiting for a service.
type WaitStarted struct {
	Iteration int  `json:"iteration_number"`
	Role      Role `json:"role"`
	Wait      Wait `json:",embed"`
}

// WaitFinished closes a wait. The agent is asked again unless the run was cancelled.
type WaitFinished struct {
	Iteration int
	Role      Role
	Wait      Wait
}

func (e WaitStarted) iteration() int  { return e.Iteration }
func (e WaitFinished) iteration() int { return e.Iteration }

package loop

import "time"

// A Role is the part an agent plays in a turn.
type Role string

// The two roles.
const (
	RoleActor  Role = "actor"
	RoleCritic Role = "critic"
)

// An AgentRef names who plays a role: an agent of the catalogue or of the
// user's own, with the model asked for ("" is the agent's default).
type AgentRef struct {
	Agent string
	Model string
}

// A Brief is what the actor is asked in one turn.
type Brief struct {
	Iteration int
	Step      Step   // of the turn
	ID        string // names the turn; see [Turn.ID]
	Task      string // the user's prompt, or the part of it that is under way
	Role      Role   // whose agent plays; "": the actor's own
	// Conversation is the one that the actor's last turn was part of, to be
	// carried on or not; the zero value when there is none.
	Conversation Conversation
	// Said is what the user has said for this turn while the run went on.
	Said []string
	// Previous is the round before this one; nil in the first iteration.
	Previous *Round
	// Baseline is what the checks said before the session, where they were run.
	Baseline []CheckResult
}

// An Ending says how an agent's turn came to its end.
type Ending string

// The endings of a turn. EndCompleted is the only good one: the agent's process
// ended by itself with exit code 0, and what it printed says nothing else.
const (
	EndCompleted   Ending = "completed"
	EndEmpty       Ending = "empty"        // exit code 0, but no final text where there has to be one
	EndFailed      Ending = "failed"       // exit code other than 0, killed by a foreign signal, or the agent says so
	EndTimedOut    Ending = "timed_out"    // stopped: the turn's time limit
	EndIdle        Ending = "idle"         // stopped: no output for the idle limit
	EndOutputLimit Ending = "output_limit" // stopped: more output than max_output
	EndInterrupted Ending = "interrupted"  // stopped: the run was cancelled

	// What the agent itself says was in its way.
	EndAuth             Ending = "auth"              // it is not signed in
	EndRateLimited      Ending = "rate_limited"      // see Turn.ResetAt
	EndOverloaded       Ending = "overloaded"        // the model's service, or the network
	EndContextTooLong   Ending = "context_too_long"  // the prompt is more than the model takes
	EndPermissionDenied Ending = "permission_denied" // it was not allowed to do its work
)

// Cut reports whether codeloops stopped the turn before the agent was through.
func (e Ending) Cut() bool {
	return e == EndTimedOut || e == EndIdle || e == EndOutputLimit || e == EndInterrupted
}

// Stuck reports whether the agent itself says that it could not work.
func (e Ending) Stuck() bool {
	return e == EndAuth || e == EndRateLimited || e == EndOverloaded || e == EndContextTooLong || e == EndPermissionDenied
}

// An Output is what is kept of one stream of a process: all of it, or its
// head and its tail with a line between them that names what was left out.
type Output struct {
	Text    string
	Total   int64  // bytes that the process wrote
	Omitted int64  // bytes that Text does not hold
	File    string // where the whole stands while Omitted > 0
}

// A Process is one that an agent left running when its turn ended.
type Process struct {
	PID     int
	Command string
}

// Late is what was printed when the agent's own process had ended. It counts for
// nothing, and nothing of it is read.
type Late struct {
	Total int64  // bytes, as far as it is known
	File  string // where they stand
}

// A Turn is what is known of one finished turn of an agent, whatever its role.
type Turn struct {
	// ID is the same for the same turn of the same session, whoever asks:
	// <session>__<role>_<iteration>, and from the second time that a critic is
	// asked in one iteration on, _<time> behind it. "" where the session has no
	// name.
	ID string
	// Try is the one that counts; Misses are those before it, oldest first, that
	// came to nothing.
	Try
	Misses []Try
	Execution

	// ResetAt is when a limit ends; zero when the agent does not say.
	ResetAt time.Time
	// Conversation is the agent's own name for its session, "" when it tells
	// none.
	Conversation string
	// SessionID is the name, a UUID, that the agent was told to give its session;
	// "" where it takes none, or carried on a conversation.
	SessionID string
}

// A Try is what one agent made of a turn. Another agent, or a new conversation, takes
// the turn over after one that came to nothing.
type Try struct {
	Agent   AgentRef
	Resumed bool // it was to carry on a conversation of earlier turns
	Ending  Ending
	Reason  string // the agent's own sentence on a bad ending, "" when it has none
	Usage   Usage
}

// An Execution is what became of the process of an agent.
type Execution struct {
	Stdout   Output
	Stderr   Output
	ExitCode int // -1 when a signal ended the process
	Duration time.Duration
	// Leftovers are the processes that were still there when the agent's own
	// process had ended. They have been ended since.
	Leftovers []Process
	// Late is what they printed after that.
	Late Late
}

// Blocked reports whether the agent could not work at all, and cannot until
// something changes that is outside of the run. Such a turn is none: it has to
// be played again.
func (t Turn) Blocked() bool {
	return t.Ending == EndAuth || t.Ending == EndRateLimited || t.Ending == EndPermissionDenied && t.Usage.Tokens == nil
}

// An Attempt is what one turn of the actor left, its change apart.
type Attempt struct {
	Turn
	// Rejudged: it is the attempt of the iteration before, which the critic had
	// given no verdict on. No turn was played, and so it took nothing.
	Rejudged bool
}

// again is what the attempt is in an iteration in which it is only judged.
func (a Attempt) again() *Attempt {
	a.Rejudged = true
	a.Duration, a.Misses = 0, nil
	a.Usage = Usage{Tokens: &Tokens{}, CostUSD: new(0.0), Rounds: new(0)}
	return &a
}

// A CheckResult is one of the project's own check commands, run and judged.
type CheckResult struct {
	Command  string
	ExitCode int // -1 when a signal ended it
	Ending   Ending
	Duration time.Duration
	Output   Output // stdout and stderr as they came

	// FailedBefore: it did not pass when the session began, either.
	FailedBefore bool
	// Changed is what it changed or removed of that which it was to judge. Such a
	// check has not passed, however it ended.
	Changed []string
	// Written is all that it wrote in its view of the work tree. It is no part of the
	// session log by itself.
	Written Written
	// Lacked is what earlier checks had written and was taken away before this one,
	// which has not passed.
	Lacked []string
}

// Passed reports whether the check ended by itself with exit code 0, and left alone
// what it was to judge.
func (c CheckResult) Passed() bool {
	return c.Ending == EndCompleted && c.ExitCode == 0 && len(c.Changed) == 0
}

// Remarks are what is to be known of the check besides how it ended.
func (c CheckResult) Remarks() (sentences []string) {
	if len(c.Changed) > 0 {
		sentences = append(sentences, "it changed what it was to judge: "+listed(c.Changed))
	}
	if len(c.Lacked) > 0 {
		sentences = append(sentences, "it may need what an earlier check wrote, which is taken away ("+listed(c.Lacked)+
			"): have git ignore it, or make one check of both")
	}
	return sentences
}

// A Notice is something an agent does or prints while its turn lasts.
type Notice struct {
	Kind NoticeKind
	// Stream is "stdout" or "stderr" for what is printed, else "".
	Stream string
	// Text is what is printed, whole lines where the agent writes lines, or
	// one line that says what is done.
	Text string
	// Added and Removed are the lines of an edit, where the agent tells them.
	Added   int `json:",omitempty"`
	Removed int `json:",omitempty"`
	// Look is that of NoticeLook, which has no text.
	Look *Look `json:",omitempty"`
	// Wait is set where the run stands still, or goes on again: that is no
	// [Activity], but an event of its own.
	Wait *Wait
}

// A NoticeKind says what a notice is about.
type NoticeKind string

// The kinds of notices.
const (
	NoticeOutput  NoticeKind = "output"  // a piece of what is printed, as it is
	NoticeMessage NoticeKind = "message" // a message of the model
	NoticeTool    NoticeKind = "tool"    // a tool is used: its name, and on what
	NoticeCommand NoticeKind = "command" // a command is run
	NoticeEdit    NoticeKind = "edit"    // a file is changed
	NoticeProblem NoticeKind = "problem" // a fault that the agent copes with by itself
	NoticeLook    NoticeKind = "look"    // what has become of the work tree, which is no word of the agent's
	NoticeChange  NoticeKind = "change"  // another agent, or a new conversation, takes the turn over
)

// A Watch is told what an agent does while its turn lasts. It may be called
// from any goroutine, never concurrently with itself.
type Watch func(Notice)

package loop

// An Event is one fact about a run. The set is closed; the package comment gives the order of
// events.
//
//sumtype:decl
type Event interface{ iteration() int }

// IterationOf returns the number of the iteration that an event belongs to, 0 for none.
func IterationOf(e Event) int { return e.iteration() }

// Started opens every run.
type Started struct {
	Session Session
}

// Resumed opens the part that a later process adds to an interrupted session.
type Resumed struct {
	Session    Session
	Iterations int  // whole ones so far
	Judge      bool // the next iteration's actor turn is finished but not judged yet
	Rejudge    bool // the next iteration judges the work of the last one again
}

// IterationStarted opens an iteration.
type IterationStarted struct {
	Iteration int `json:"iteration_number"`
}

// PhaseEntered says that the run has moved to one of the working states.
type PhaseEntered struct {
	Iteration int   `json:"iteration_number"`
	State     State `json:"state"`
}

// Activity is something an agent does or prints during its turn. It is for display only and not
// part of the session log.
type Activity struct {
	Iteration int  `json:"iteration_number"`
	Role      Role `json:"role"`
	Notice
}

// ActorFinished closes the actor's turn.
type ActorFinished struct {
	Iteration int
	Attempt   Attempt
}

// DiffCaptured holds what has changed since the session began.
type DiffCaptured struct {
	Iteration int
	Change    Change
}

// Inspected holds what the rules of the run noticed in the work. It is omitted if they noticed
// nothing.
type Inspected struct {
	Iteration  int        `json:"iteration_number"`
	Inspection Inspection `json:",embed"`
}

// BaselineChecked holds the results of the checks on the work tree as the session found it.
type BaselineChecked struct {
	Checks []CheckResult `json:"checks"`
}

// ChecksFinished closes the project's own checks.
type ChecksFinished struct {
	Iteration int           `json:"iteration_number"`
	Checks    []CheckResult `json:"checks"`
}

// ReviewRejected says that a critic's reply could not be used and that the critic will be asked
// again.
type ReviewRejected struct {
	Iteration int
	Review    Review
}

// CriticFinished closes the critic's part, with a verdict or with the last problem.
type CriticFinished struct {
	Iteration int
	Review    Review
}

// IterationFinished closes an iteration and holds its result.
type IterationFinished struct {
	Round Round
}

// Warned is something the user should know that does not end the run.
type Warned struct {
	Iteration int    `json:"iteration_number,omitzero"` // 0: before the first
	Text      string `json:"message"`
}

// Finished closes every run.
type Finished struct {
	Outcome Outcome
}

func (Started) iteration() int             { return 0 }
func (Resumed) iteration() int             { return 0 }
func (e IterationStarted) iteration() int  { return e.Iteration }
func (e PhaseEntered) iteration() int      { return e.Iteration }
func (e Activity) iteration() int          { return e.Iteration }
func (e ActorFinished) iteration() int     { return e.Iteration }
func (e DiffCaptured) iteration() int      { return e.Iteration }
func (e Inspected) iteration() int         { return e.Iteration }
func (BaselineChecked) iteration() int     { return 0 }
func (e ChecksFinished) iteration() int    { return e.Iteration }
func (e ReviewRejected) iteration() int    { return e.Iteration }
func (e CriticFinished) iteration() int    { return e.Iteration }
func (e IterationFinished) iteration() int { return e.Round.Iteration }
func (e Warned) iteration() int            { return e.Iteration }
func (Finished) iteration() int            { return 0 }

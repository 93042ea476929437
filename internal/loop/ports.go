package loop

import (
	"context"
	"iter"
	"time"
)

// An Actor does one turn of work. A turn that ends badly is an Attempt, not an
// error; an error means that no turn could be run at all, and ends the run.
type Actor interface {
	Act(context.Context, Brief, Watch) (Attempt, error)
}

// A Tree is the user's work tree, compared with what it was when the session
// began. An error ends the run.
type Tree interface {
	// Capture returns what differs now from the start of the session.
	Capture(context.Context) (Change, error)
	// Between returns what differs between the states that two Captures of this
	// session returned, the second one of this run. Its own State and
	// Checkpoint are the second one's.
	Between(ctx context.Context, from, to Change) (Change, error)
	// Checkpoint keeps the state that a Capture returned, so that a later
	// process can come back to it, and returns the commit that holds it.
	Checkpoint(ctx context.Context, iteration int, c Change) (commit string, err error)
	// Restore puts the files back to the state that an earlier Capture of
	// this run returned, and leaves ignored files alone. What it takes away is
	// kept first; the returned words say where.
	Restore(context.Context, Change) (kept string, err error)
}

// A Checker runs the project's own check commands. A check that fails is a
// result, not an error.
type Checker interface {
	// Check runs them one after the other, and hands out each result before the
	// next one begins. Iteration 0 is before the first. Nothing follows an error.
	Check(ctx context.Context, iteration int) iter.Seq2[CheckResult, error]
}

// A Critic judges a case. A turn that gives no usable verdict is a Review with
// its Problem set; an error means that no turn could be run at all.
type Critic interface {
	Judge(context.Context, Case, Watch) (Review, error)
}

// Progress is what a run has come to, as a [Gate] sees it.
type Progress struct {
	Iterations        int           // whole iterations so far
	ConsecutiveErrors int           // iterations in a row, up to now, that count as errors
	LastFailure       StopReason    // of the last iteration; StopNone when it was none
	LastProblem       string        // what was said of that failure, "" where nothing was
	Elapsed           time.Duration // since the run began
	Next              Role          // whose turn it would be
	Spent             Spending
}

// A Gate holds the rules of a run: whether it may go on, what the actor's work
// must keep, and what a critic's verdict is worth.
type Gate interface {
	// Stop is asked before every turn. A reason other than StopNone ends the
	// run before the turn starts; the sentence tells a person why.
	Stop(Progress) (StopReason, string)
	// Inspect looks at the actor's work before anybody else does. A ruling,
	// when there is one, stands in for the critic's verdict: no critic is asked
	// and no check is run.
	Inspect(Case) (Inspection, *Ruling)
	// Ends says whether a review would end the run as done, and which open findings
	// it passes over without a word: the critic is asked once for that.
	Ends(Case, Review) (done bool, unmentioned []string)
	// Rule says what a review comes to. The verdict in its answer has a
	// decision.
	Rule(Case, Review) Ruling
}

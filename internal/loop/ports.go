package loop

import (
	"context"
	"iter"
)

// A Workplace is a work tree with those who play in it: the user's own, or a [Fork].
type Workplace struct {
	Actor     Actor
	Tree      Tree
	Checker   Checker   // nil: the project has no checks, VERIFYING is left out
	Commander Commander // nil: no other commands are run
	Critic    Critic
	Panel     []Critic // the members of a panel, see [Policy.Panel]
	Player    Player   // nil: the strategy has no turns of its own
	Restorer  Restorer // nil: the strategy puts nothing back
	Forker    Forker   // nil: the strategy makes no forks
	Gate      Gate
}

// A Restorer puts the files of a work tree back to a checkpoint. What it takes away is
// kept. An error ends the run, and leaves the files as they were.
type Restorer interface {
	Restore(ctx context.Context, commit string) error
	// Apply makes of the work tree what differs between two checkpoints, and nothing else.
	// Where somebody has changed the same files it changes nothing, and returns an error.
	// What is there already is left alone.
	Apply(ctx context.Context, from, to string) error
}

// A Forker makes forks of a work tree.
type Forker interface {
	// Fork makes the fork of a step, or opens the one that a run which broke off has left.
	// It may be asked for several at the same time.
	Fork(context.Context, Step) (Fork, error)
}

// A Fork is a copy of a work tree as it was when the fork was made, files that git ignores
// included, with players of its own. It belongs to the goroutine that made it.
type Fork interface {
	Workplace() Workplace
	// Apply makes of the tree that was forked what was changed in the fork, and nothing
	// else. Where somebody has changed the same files there it changes nothing, and returns
	// an error. A fork that has been applied can be applied again.
	Apply(context.Context) error
	// Discard removes the fork.
	Discard() error
}

// An Actor does one turn of work. A turn that ends badly is an Attempt, not an
// error; an error means that no turn could be run at all, and ends the run.
type Actor interface {
	Act(context.Context, Brief, Watch) (Attempt, error)
}

// A Tree is the user's work tree, compared with what it was when the session
// began. It is looked at, and never written. An error ends the run.
type Tree interface {
	// Capture returns what differs now from the start of the session.
	Capture(context.Context) (Change, error)
	// Between returns what differs between the states that two Captures of this
	// session returned, the second one of this run. Its own State and
	// Checkpoint are the second one's.
	Between(ctx context.Context, from, to Change) (Change, error)
	// Checkpoint keeps the state that a Capture for a step returned, so that a later
	// process can come back to it, and returns the commit that holds it.
	Checkpoint(ctx context.Context, step Step, c Change) (commit string, err error)
}

// A Checker runs the project's own check commands. A check that fails is a
// result, not an error.
type Checker interface {
	// Check runs them one after the other for a step, each in the work tree as it is, and hands
	// out each result before the next one begins. Nothing follows an error.
	Check(ctx context.Context, at Step) iter.Seq2[CheckResult, error]
}

// A Commander runs a command for what it prints, where nothing that it writes stays. One that
// fails is a result, not an error. It may be asked for several at the same time.
type Commander interface {
	Command(ctx context.Context, step Step, command string) (CheckResult, error)
}

// A Critic judges a case. A turn that gives no usable verdict is a Review with
// its Problem set; an error means that no turn could be run at all.
type Critic interface {
	Judge(context.Context, Case, Watch) (Review, error)
}

// Progress is what a run has come to, as a [Gate] sees it.
type Progress struct {
	Iterations        int        // whole iterations so far
	ConsecutiveErrors int        // iterations in a row, up to now, that count as errors
	LastFailure       StopReason // of the last iteration; StopNone when it was none
	LastProblem       string     // what was said of that failure, "" where nothing was
	Next              Role       // whose turn it would be
	Judges            bool       // by a turn that judges work which is there: it belongs to an iteration that was allowed
	Spent             Spending
	Roles             map[Role]Spent // the parts of Spent.Others
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

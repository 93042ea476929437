package loop

import (
	"context"
	"iter"
)

// A Workplace is a work tree and the agents that work in it: the user's own tree, or a [Fork]. What
// the strategy does not use may be nil.
type Workplace struct {
	Actor     Actor
	Tree      Tree
	Checker   Checker // nil: the project has no checks, and VERIFYING is skipped
	Commander Commander
	Critic    Critic
	Panel     []Critic // the members of a panel, see [Policy.Panel]
	Player    Player
	Restorer  Restorer
	Forker    Forker
	Gate      Gate
}

// A Restorer restores the files of a work tree to a checkpoint. It keeps a copy of what it
// removes. An error ends the run; the files are then unchanged.
type Restorer interface {
	Restore(ctx context.Context, commit string) error
	// Apply applies the difference between two checkpoints to the work tree, and nothing else. If
	// somebody else has changed the same files, it changes nothing and returns an error. What has
	// been applied already is left alone.
	Apply(ctx context.Context, from, to string) error
}

// A Forker makes forks of a work tree.
type Forker interface {
	// Fork creates the fork for a step, or opens the one that an interrupted run left. It must be
	// safe for concurrent use.
	Fork(context.Context, Step) (Fork, error)
}

// A Fork is a copy of a work tree at the time of the fork, including files that git ignores, with
// agents of its own. It belongs to the goroutine that created it.
type Fork interface {
	Workplace() Workplace
	// Apply applies the changes made in the fork to the original tree, and nothing else. If
	// somebody else has changed the same files there, it changes nothing and returns an error.
	// Applying twice is the same as applying once.
	Apply(context.Context) error
	// Discard removes the fork.
	Discard() error
}

// An Actor plays one turn of work. A turn that ends badly is an Attempt, not an error; an error
// means that no turn could be started, and ends the run.
type Actor interface {
	Act(context.Context, Brief, Watch) (Attempt, error)
}

// A Tree compares the user's work tree with its state at the start of the session. It only reads.
// An error ends the run.
type Tree interface {
	// Capture returns what differs from the start of the session.
	Capture(context.Context) (Change, error)
	// Between returns the difference between two states that Capture returned in this session;
	// the second must be from this run. The result has the State and Checkpoint of the second.
	Between(ctx context.Context, from, to Change) (Change, error)
	// Checkpoint saves the state that a Capture for a step returned, so that a later process can
	// restore it, and returns the commit that holds it.
	Checkpoint(ctx context.Context, step Step, c Change) (commit string, err error)
}

// A Checker runs the project's own check commands. A failing check is a result, not an error.
type Checker interface {
	// Check runs the checks for a step one after the other on the current work tree, and yields
	// each result before the next one starts. Nothing follows an error.
	Check(ctx context.Context, at Step) iter.Seq2[CheckResult, error]
}

// A Commander runs a command for its output and discards what it writes. A failing command is a
// result, not an error. It must be safe for concurrent use.
type Commander interface {
	Command(ctx context.Context, step Step, command string) (CheckResult, error)
}

// A Critic judges a case. A turn without a usable verdict is a Review with its Problem set; an
// error means that no turn could be started.
type Critic interface {
	Judge(context.Context, Case, Watch) (Review, error)
}

// Progress is how far a run has come, as a [Gate] sees it.
type Progress struct {
	Iterations        int        // whole iterations so far
	ConsecutiveErrors int        // current run of iterations that count as errors
	LastFailure       StopReason // of the last iteration; StopNone when it was none
	LastProblem       string     // the message of that failure, "" if there was none
	Judges            bool       // the next turn judges existing work: it belongs to an iteration that was allowed
	Spent             Spending
	Roles             map[Role]Spent // the same by role
}

// A Gate holds the rules of a run: whether it may go on, what the actor's work must satisfy, and
// what a verdict is worth.
type Gate interface {
	// Stop is asked before every turn. A reason other than StopNone ends the
	// run before the turn starts; the sentence tells a person why.
	Stop(Progress) (StopReason, string)
	// Inspect looks at the actor's work before anybody else does. If it returns a ruling, that
	// replaces the critic's verdict: no critic is asked and no check is run.
	Inspect(Case) (Inspection, *Ruling)
	// Ends reports whether a review would end the run as done, and which open findings it does
	// not mention. The critic is asked about those once.
	Ends(Case, Review) (done bool, unmentioned []string)
	// Rule decides what a review is worth. The verdict in its answer has a decision.
	Rule(Case, Review) Ruling
}

// Package loop drives an actor and a critic, turn by turn, until the work is
// done.
//
// It owns the vocabulary that every other package speaks: what an actor is
// asked ([Brief]) and leaves ([Attempt]), what changed ([Change]), what a
// critic is shown ([Case]) and answers ([Review], [Verdict]), how a run ended
// ([Outcome]), and the facts a run makes known on its way ([Event]). It knows
// none of the packages that do the work: they come in through small
// interfaces ([Workplace], [Sink]).
//
// What happens is up to a [Strategy]: ordinary code over [Steps], the moves of a run.
// Each step has a name ([Step]), which its events bear ([Stamp]), and is written down
// before the next one begins. A session is carried on by running its strategy again over
// what stands there, its [Journal]. The strategy that plays an actor and a critic in turns
// is in package strategy; [Machine] holds its iterations to their order.
//
// # Events
//
// A run emits its events to one [Sink], in this order:
//
//	Started [BaselineChecked] Iteration* Finished
//
//	Iteration = IterationStarted
//	            PhaseEntered(ACTOR_EXECUTING)   ActorFinished
//	            PhaseEntered(CAPTURING_DIFF)    DiffCaptured [Inspected]
//	          [ [ PhaseEntered(VERIFYING)       ChecksFinished ]
//	            PhaseEntered(CRITIC_EVALUATING) ReviewRejected* CriticFinished [ChecksFinished] ]
//	            IterationFinished
//
// The checks are run again behind a DONE where the work tree, HEAD, the index or the
// tags are no longer what they had run on.
//
// The critic's part is left out when the rules of the run ([Gate]) rule on the
// work by themselves.
//
// A session that broke off is carried on by
//
//	Resumed [PhaseEntered(CAPTURING_DIFF) ...] Iteration* Finished
//
// where the rest of an iteration whose actor had finished comes first, and
// iterations go on from the last whole one. Where that one had come to no
// verdict, the first iteration plays no turn of the actor: it judges again what
// there is ([Attempt.Rejudged]). The log then holds what came before
// as well, an earlier Finished included.
//
// A strategy's own turns are pairs of TurnStarted and TurnFinished, several of which may
// be open at a time, under steps of their own. Noted says what its other steps came to:
// a fork of the work tree, a checkpoint, checks, what was put back, an answer of the user's.
// Behind one of these iterations may follow one that ended with DONE.
//
// While the turn of an agent lasts, pairs of WaitStarted and WaitFinished tell
// when it stood still. [Activity] and [Warned] may stand anywhere between
// Started and Finished.
// The last iteration may break off at any point, when the run is interrupted
// or fails; Finished follows at once. There is exactly one Finished on every
// path, and nothing after it. Iterations are numbered from 1 without gaps.
package loop

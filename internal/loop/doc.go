// Package loop drives an actor and a critic, turn by turn, until the work is done.
//
// It owns the vocabulary that every other package speaks: what an actor is
// asked ([Brief]) and leaves ([Attempt]), what changed ([Change]), what a
// critic is shown ([Case]) and answers ([Review], [Verdict]), how a run ended
// ([Outcome]), and the facts that a run reports on its way ([Event]). It imports
// none of the packages that do the work: it sees them through small
// interfaces ([Workplace], [Sink]).
//
// A [Strategy] decides what happens: it is ordinary code over [Steps], the moves of a run. Each
// step has a name ([Step]), which its events carry ([Stamp]), and its result is recorded before
// the next step begins. A session is resumed by running its strategy again over the recorded
// results, its [Journal]. The default strategy, an actor and a critic in turns, is in package
// strategy; [Machine] keeps its iterations in order.
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
// The checks run again after a DONE if the work tree, HEAD, the index or the tags
// have changed since they ran.
//
// The critic's part is skipped when the rules of the run ([Gate]) decide on the
// work themselves.
//
// A session that broke off is resumed with
//
//	Resumed [PhaseEntered(CAPTURING_DIFF) ...] Iteration* Finished
//
// where an iteration whose actor had finished is completed first, and iterations
// continue after the last whole one. If that one has no verdict, the next iteration
// plays no turn of the actor: it judges the existing work again
// ([Attempt.Rejudged]). The log then also holds what came before, including an
// earlier Finished.
//
// A strategy's own turns are pairs of TurnStarted and TurnFinished with steps of their
// own; several may be open at a time. Noted holds the results of its other steps: a fork
// of the work tree, a checkpoint, checks, a restore, an answer of the user's. After one
// of these, iterations may follow even an iteration that ended with DONE.
//
// During an agent's turn, pairs of WaitStarted and WaitFinished tell when it was
// waiting. [Activity], [Warned] and [Steered] may come anywhere between Started and Finished.
// The last iteration may break off at any point, when the run is interrupted
// or fails; Finished follows at once. There is exactly one Finished on every
// path, and nothing comes after it. Iterations are numbered from 1 without gaps.
package loop

// Package run is what a front end starts: options in, a plan, an outcome out.
//
// [Prepare] makes the plan of a new session, [Resume] that of one to carry on; whatever
// can be refused is refused there. [Plan.Run] plays it and hands its events to sinks.
// Questions come in as [Options.Ask], and the [Control] of a plan reaches a run that is
// under way. Nothing here knows streams, flags, signals or exit codes, and any number of
// runs go on in one process, each in a work tree of its own.
package run

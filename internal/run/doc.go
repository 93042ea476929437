// Package run runs sessions for a front end: options in, a plan, an outcome out.
//
// [Prepare] returns the plan of a new session, [Resume] that of one to continue; both reject
// whatever can be rejected. [Plan.Run] plays it and passes its events to sinks. Questions come in
// as [Options.Ask], and the [Control] of a plan controls a running session. Nothing here knows
// streams, flags, signals or exit codes, and any number of runs can go on in one process, each in
// its own work tree.
package run

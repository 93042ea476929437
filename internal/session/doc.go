// Package session keeps the log of a run: one JSON object a line, appended and synced as the
// run's events happen.
//
// The format is described in docs/session-format.md. [Encode] and [Reader] are the two ends of
// one codec. A [Store] is a directory of logs; a [Recorder] writes one log, a [Lock] keeps a
// second run out of the same work tree, and a [Result] is the document that says how a run ended.
package session

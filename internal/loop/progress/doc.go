// Package progress folds the events of a run into its state: what is under way and
// since when, and what the run has come to. Whatever shows, replays or adds up a run
// asks it, so that a run means the same live, played back and in a list.
//
// A state holds figures and names, no text that an agent wrote.
package progress

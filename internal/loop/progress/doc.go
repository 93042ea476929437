// Package progress folds the events of a run into its state: what is running since when, and the
// results so far. Whatever shows, replays or sums up a run uses it, so that live views, replays
// and lists agree.
//
// A state holds figures and names, but no text that an agent wrote.
package progress

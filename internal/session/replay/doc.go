// Package replay plays recorded sessions again.
//
// A [Player] hands the events of a log to the sink that showed them live.
// [Verify] goes further: it lets today's loop and today's reading of replies
// run on what the agents had said, and tells where the course, or the end, is
// another.
package replay

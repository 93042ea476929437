// Package replay plays recorded sessions again.
//
// A [Player] passes the events of a log to the sink that showed them live. [Verify] runs
// today's loop, and today's parsing of replies, on what the agents said, and reports where the
// course or the end differs.
package replay

// Package wording writes the parts of sentences that every other package needs:
// text without what drives a terminal, names and paths on one line, counts,
// lists, and the name that a mistyped word was meant to be.
package wording

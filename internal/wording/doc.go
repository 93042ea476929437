// Package wording formats the parts of messages: text without control sequences, names and
// paths on one line, counts, lists, and suggestions for mistyped words.
package wording

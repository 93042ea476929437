// Package agent calls coding-agent CLIs.
//
// A [Spec] describes one CLI: its program, the arguments with which it acts and with
// which it reviews, how it gets the prompt and how it returns the final text.
// [Catalogue] holds the known ones, [Custom] makes one from the user's configuration.
// An [Agent] is a spec bound to a place and to limits; it plays one turn per call of
// [Agent.Run].
//
// A CLI is never called through a shell, and its output is only ever treated as data.
package agent

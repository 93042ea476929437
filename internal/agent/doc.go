// Package agent calls coding-agent CLIs.
//
// A [Spec] describes one CLI: which program it is, with which arguments it
// acts and with which it reviews, how the prompt gets in and how the final
// text comes out. [Catalogue] holds the known ones, [Custom] makes one of the
// user's own. An [Agent] is a spec bound to a place and to limits; it plays
// one turn per call of [Agent.Run].
//
// A CLI is never called through a shell, and what it prints is only ever data.
package agent

package config

import (
	"cmp"
	"strconv"
)

// A Layer is one of the sources of configuration.
type Layer string

// The layers, highest first.
const (
	Flag    Layer = "flag"
	Env     Layer = "env"
	Project Layer = "project"
	Global  Layer = "global"
	Default Layer = "default"
)

// An Origin is where a value came from.
type Origin struct {
	Layer Layer  `json:"layer"`
	File  string `json:"file,omitempty"` // absolute; only for files
	Line  int    `json:"line,omitempty"` // from 1; 0: unknown
	// Name is what was set there: a flag ("--agent"), a variable ("CODELOOPS_AGENT"), a
	// key of the file or a profile. For a role that takes the general agent or model, it
	// differs from the role's own key.
	Name string `json:"name,omitempty"`
}

// String names the origin in a few words: the line of a file, or else the flag, variable or profile.
func (o Origin) String() string {
	if o.Line > 0 {
		return o.File + ":" + strconv.Itoa(o.Line)
	}
	return cmp.Or(o.File, o.Name, string(Default))
}

// blame reports a problem of a key that was set there.
func (o Origin) blame(key, problem, hint string) *Error {
	return &Error{File: o.File, Line: o.Line, Key: key, Problem: problem, Hint: hint}
}

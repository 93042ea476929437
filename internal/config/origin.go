package config

import "strconv"

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

// String names the origin in a few words.
func (o Origin) String() string {
	switch o.Layer {
	case Flag, Env:
		return o.Name
	case Project, Global:
		if o.Line > 0 {
			return o.File + ":" + strconv.Itoa(o.Line)
		}
		return o.File
	case Default:
		if o.Name != "" { // a profile
			return o.Name
		}
	}
	return string(Default)
}

package config

import "strconv"

// A Layer is one of the places that configuration comes from.
type Layer string

// The layers, highest first.
const (
	Flag    Layer = "flag"
	Env     Layer = "env"
	Project Layer = "project"
	Global  Layer = "global"
	Default Layer = "default"
)

// An Origin is the place that a value came from.
type Origin struct {
	Layer Layer  `json:"layer"`
	File  string `json:"file,omitempty"` // absolute; only for files
	Line  int    `json:"line,omitempty"` // from 1; 0: unknown
	// Name is what was set there: a flag ("--agent"), a variable
	// ("CODELOOPS_AGENT"), a key of the file or a profile. It differs from the
	// key asked for where a role takes the general agent or model.
	Name string `json:"name,omitempty"`
}

// String says in a few words where the value came from.
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

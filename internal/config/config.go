package config

import "strconv"

// A provenance is where a configuration came from.
type provenance struct {
	values  layer // of all keys, for their origins
	paths   Paths
	trusted string // digest of a project file that needs trust and has it
	files   forAgents
}

// Origin returns where a key's value came from. The key is spelled as in a file, with dots
// for tables ("actor.timeout").
func (c *Config) Origin(key string) Origin {
	if v, ok := c.values[key]; ok {
		return v.origin
	}
	return Origin{Layer: Default}
}

// Sessions returns the directory of the session logs: session_dir, or the default in the
// data directory. Without either it returns [ErrNoHome].
func (c *Config) Sessions() (string, error) {
	if c.SessionDir != "" {
		return c.SessionDir, nil
	}
	if c.paths.Sessions == "" {
		return "", noHome("keep session logs", "CODELOOPS_SESSION_DIR")
	}
	return c.paths.Sessions, nil
}

// GlobalFile is the user's configuration file, whether it exists or not; "" without a home directory.
func (c *Config) GlobalFile() string { return c.paths.Global }

// Needs returns how many members have to say DONE.
func (p Judge) Needs() int {
	switch p.Quorum {
	case "all":
		return len(p.Members)
	case "majority":
		return len(p.Members)/2 + 1
	}
	n, _ := strconv.Atoi(p.Quorum) // its kind has checked it
	return n
}

// Decisions lists the decisions that a critic may make.
func Decisions() []string { return []string{"done", "continue", "error", "escalate"} }

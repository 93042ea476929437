package config

import (
	"slices"
	"strings"
)

// A provenance is where a configuration came from.
type provenance struct {
	values  values // of all keys, for their origins
	paths   Paths
	trusted string // digest of a project file that needs trust and has it
	trusts  trusts // in files for agents
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

// validate checks the keys against each other.
func (c *Config) validate() error {
	critic := c.Agents[c.Critic.Agent]
	key, args := "command", critic.Command
	if len(critic.CriticCommand) > 0 {
		key, args = "critic_command", critic.CriticCommand
	}
	return slices.Concat(
		c.lacksModel("actor", c.Actor.Role, "command", c.Agents[c.Actor.Agent].Command),
		c.lacksModel("critic", c.Critic.Role, key, args),
		c.checkRevision(), c.unknownRoles(), c.checkQuorum(), c.checkConvergence(),
	).orNil()
}

// lacksModel reports a command that needs a model for a role that has none.
func (c *Config) lacksModel(name string, role Role, key string, command []string) Errors {
	needs := slices.ContainsFunc(command, func(arg string) bool { return strings.Contains(arg, "{model}") })
	if !needs || role.Model != "" {
		return nil
	}
	return c.contradiction("agents."+role.Agent+"."+key, "holds {model}, but the "+name+" has no model",
		"set a model, or move the argument to model_args, which counts only with a model")
}

// contradiction reports a key that contradicts another one, at the place where it was set.
func (c *Config) contradiction(key, problem, hint string) Errors {
	origin := c.Origin(key)
	return Errors{{File: origin.File, Line: origin.Line, Key: key, Problem: key + " " + problem, Hint: hint}}
}

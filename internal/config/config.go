package config

import (
	"slices"
	"strings"
	"time"
)

// A Config is the effective configuration of a run. [Load] makes it; its
// fields may then be read from any goroutine.
type Config struct {
	Agent                string        `mapstructure:"agent"`
	Model                string        `mapstructure:"model"`          // "": the agent's default
	AgentOrder           []string      `mapstructure:"agent_order"`    // "agent" or "agent:model"; none: the catalogue's
	Fallback             []string      `mapstructure:"fallback"`       // "agent" or "agent:model"
	MaxIterations        int           `mapstructure:"max_iterations"` // 0: no limit
	MaxDuration          time.Duration `mapstructure:"max_duration"`   // 0: no limit
	MaxCost              float64       `mapstructure:"max_cost"`       // US dollars; 0: no limit
	MaxTokens            int           `mapstructure:"max_tokens"`     // 0: no limit
	MaxWait              time.Duration `mapstructure:"max_wait"`       // for a rate limit; 0: none
	MaxConsecutiveErrors int           `mapstructure:"max_consecutive_errors"`
	CriticRetries        int           `mapstructure:"critic_retries"`
	ActorSession         string        `mapstructure:"actor_session"` // "fresh" or "resume"
	MaxOutput            Size          `mapstructure:"max_output"`    // of one turn; 0: no limit
	LogOutput            Size          `mapstructure:"log_output"`    // of each stream, kept in the log
	Checks               []string      `mapstructure:"checks"`        // shell commands
	CheckTimeout         time.Duration `mapstructure:"check_timeout"`
	CheckBefore          bool          `mapstructure:"check_before"`
	FailFast             bool          `mapstructure:"fail_fast"`
	Confirm              string        `mapstructure:"confirm"`            // "short" or "never"
	LogFormat            string        `mapstructure:"log_format"`         // "pretty", "compact" or "json"
	SessionDir           string        `mapstructure:"session_dir"`        // absolute; "": see [Config.Sessions]
	EnvDeny              []string      `mapstructure:"env_deny"`           // names, or globs as in path.Match
	Profile              string        `mapstructure:"profile"`            // "default" or "strict"
	ApprovalThreshold    float64       `mapstructure:"approval_threshold"` // 0 to 1; 0: none
	RequireChange        bool          `mapstructure:"require_change"`
	CritiqueTemplate     string        `mapstructure:"critique_template"` // "": codeloops' own words
	RefineTemplate       string        `mapstructure:"refine_template"`   // "": codeloops' own words
	Policy               Policy        `mapstructure:"policy"`
	Convergence          Convergence   `mapstructure:"convergence"`
	CriticWorktree       bool          `mapstructure:"critic_worktree"`
	CriticEnv            string        `mapstructure:"critic_env"` // "full" or "clean"
	EnvPass              []string      `mapstructure:"env_pass"`   // names, or globs as in path.Match
	Actor                Role          `mapstructure:"actor"`
	Critic               Role          `mapstructure:"critic"`

	// Agents are the user's own agents, by name.
	Agents map[string]Agent `mapstructure:"-"`

	origins map[string]Origin
	paths   Paths
	trusted string // the digest of a project file that counts because it is trusted
}

// A Role says who plays the actor or the critic. Agent, Model and Fallback have
// the general ones in them where the role has none of its own.
type Role struct {
	Agent       string        `mapstructure:"agent"`
	Model       string        `mapstructure:"model"`        // "": the agent's default
	Fallback    []string      `mapstructure:"fallback"`     // "agent" or "agent:model"
	Timeout     time.Duration `mapstructure:"timeout"`      // of one turn; 0: no limit
	IdleTimeout time.Duration `mapstructure:"idle_timeout"` // without output; 0: no limit
	MaxCost     float64       `mapstructure:"max_cost"`     // US dollars; 0: no limit
	MaxTokens   int           `mapstructure:"max_tokens"`   // 0: no limit
	PriceInput  float64       `mapstructure:"price_input"`  // US dollars for a million tokens; 0: not known
	PriceOutput float64       `mapstructure:"price_output"`
}

// An Agent is one of the user's own agents. Arguments may hold the
// placeholders {model}, {prompt} and {prompt_file}; [Load] has checked that
// only those occur, and that each one fits Prompt.
type Agent struct {
	Command       []string          `toml:"command"`        // never empty
	CriticCommand []string          `toml:"critic_command"` // read-only start; empty: Command
	Prompt        string            `toml:"prompt"`         // "stdin", "pipe", "arg" or "file"
	Output        string            `toml:"output"`         // "text", or one of [Options.Outputs]
	ModelArgs     []string          `toml:"model_args"`     // appended when a model is set
	SessionArgs   []string          `toml:"session_args"`   // appended to begin a conversation
	ResumeArgs    []string          `toml:"resume_args"`    // appended to carry on a conversation
	Env           map[string]string `toml:"env"`
	Install       string            `toml:"install"` // told to a user who lacks the command
}

// Origin returns where a key's value came from. A key is spelled as in a file,
// with dots for tables ("actor.timeout"); one that no layer sets has the
// origin [Default].
func (c *Config) Origin(key string) Origin {
	if origin, ok := c.origins[key]; ok {
		return origin
	}
	return Origin{Layer: Default}
}

// Sessions returns the directory of the session logs: session_dir, or else
// the data directory's. Without either it returns [ErrNoHome].
func (c *Config) Sessions() (string, error) {
	if c.SessionDir != "" {
		return c.SessionDir, nil
	}
	if c.paths.Sessions == "" {
		return "", noHome("keep session logs", "CODELOOPS_SESSION_DIR")
	}
	return c.paths.Sessions, nil
}

// Validate checks what no single key can tell. [Load] has called it; it is
// for a Config that was changed since.
func (c *Config) Validate() error {
	var problems Errors
	own := c.Agents[c.Actor.Agent]
	problems = append(problems, c.lacksModel("actor", c.Actor, "command", own.Command)...)

	own = c.Agents[c.Critic.Agent]
	key, args := "command", own.Command
	if len(own.CriticCommand) > 0 {
		key, args = "critic_command", own.CriticCommand
	}
	problems = append(problems, c.lacksModel("critic", c.Critic, key, args)...)
	problems = append(problems, c.lacksRevision()...)
	problems = append(problems, c.endsUnwarned()...)
	return problems.orNil()
}

// lacksModel reports a command that asks for a model which the role has not.
func (c *Config) lacksModel(name string, role Role, key string, command []string) Errors {
	needs := slices.ContainsFunc(command, func(arg string) bool { return strings.Contains(arg, "{model}") })
	if !needs || role.Model != "" {
		return nil
	}
	key = "agents." + role.Agent + "." + key
	origin := c.Origin(key)
	return Errors{{
		File: origin.File, Line: origin.Line, Key: key,
		Problem: key + " holds {model}, but the " + name + " has no model",
		Hint:    "set a model, or move the argument to model_args, which counts only with a model",
	}}
}

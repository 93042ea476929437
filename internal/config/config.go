package config

import (
	"slices"
	"strings"
	"time"
)

// A Config is the effective configuration of a run, made by [Load]. Its fields may be read
// from any goroutine.
type Config struct {
	Cast
	Templates
	Limits
	Checking
	Isolation
	Approval
	Logs
	Course

	Confirm     string      `key:"confirm"` // "short" or "never"
	Policy      Policy      `key:"policy"`
	Convergence Convergence `key:"convergence"`

	provenance
}

// A Course is how the agents are driven, what they learn from earlier runs, and where the
// queue is.
type Course struct {
	Strategy Strategy `key:"strategy"`
	Lessons  Lessons  `key:"lessons"`
	Queue    Queue    `key:"queue"`
}

// A Cast says which agents play.
type Cast struct {
	Player
	AgentOrder   []string `key:"agent_order"`   // "agent" or "agent:model"; none: the catalogue's
	ActorSession string   `key:"actor_session"` // "fresh" or "resume"
	Actor        Role     `key:"actor"`
	Critic       Role     `key:"critic"`
	Panel        Panel    `key:"critic"`

	// Agents are the user's own agents, by name.
	Agents map[string]CustomAgent
}

// A Player is an agent with its fallbacks.
type Player struct {
	Agent    string   `key:"agent"`
	Model    string   `key:"model"`    // "": the agent's default
	Fallback []string `key:"fallback"` // "agent" or "agent:model"
}

// A Role says how the actor or the critic is played. Its player takes the general agent,
// model and fallback unless the role has its own.
type Role struct {
	Player
	Timeout     time.Duration `key:"timeout"`      // of one turn; 0: no limit
	IdleTimeout time.Duration `key:"idle_timeout"` // without output; 0: no limit
	Budget
	PriceInput  float64 `key:"price_input"` // US dollars per million tokens; 0: unknown
	PriceOutput float64 `key:"price_output"`
}

// A Budget limits what turns may use.
type Budget struct {
	MaxCost   float64 `key:"max_cost"`   // US dollars; 0: no limit
	MaxTokens int     `key:"max_tokens"` // 0: no limit
}

// Templates are the user's own prompts; "" is the built-in one.
type Templates struct {
	CritiqueTemplate string `key:"critique_template"`
	RefineTemplate   string `key:"refine_template"`
}

// Limits are those of a run and of its turns.
type Limits struct {
	Budget
	MaxIterations        int           `key:"max_iterations"` // 0: no limit
	MaxDuration          time.Duration `key:"max_duration"`   // 0: no limit
	MaxWait              time.Duration `key:"max_wait"`       // for a rate limit; 0: none
	MaxConsecutiveErrors int           `key:"max_consecutive_errors"`
	CriticRetries        int           `key:"critic_retries"`
	MaxOutput            Size          `key:"max_output"` // of one turn; 0: no limit
}

// Checking says what verifies the work, and when.
type Checking struct {
	Checks       []string      `key:"checks"` // shell commands
	CheckTimeout time.Duration `key:"check_timeout"`
	CheckBefore  bool          `key:"check_before"`
	FailFast     bool          `key:"fail_fast"`
}

// An Isolation limits what critics, checks and agents can see and do. Variables are names,
// or globs as in path.Match.
type Isolation struct {
	CriticView   string   `key:"critic_view"`   // a kind of view
	CriticAccess string   `key:"critic_access"` // "full" or "read-only"
	CriticEnv    string   `key:"critic_env"`    // "full" or "clean"
	EnvPass      []string `key:"env_pass"`
	EnvDeny      []string `key:"env_deny"`
}

// An Approval is what a DONE requires.
type Approval struct {
	Profile           string  `key:"profile"`            // "default" or "strict"
	ApprovalThreshold float64 `key:"approval_threshold"` // 0 to 1; 0: none
	RequireChange     bool    `key:"require_change"`
}

// Logs say what of a run is shown and kept.
type Logs struct {
	LogFormat  string        `key:"log_format"`  // "pretty", "compact" or "json"
	CI         string        `key:"ci"`          // "auto", "none", "github" or "gitlab"
	Notify     string        `key:"notify"`      // "none", "bell", "osc9" or "osc777"
	Title      bool          `key:"title"`       // of the terminal
	LogOutput  Size          `key:"log_output"`  // of each stream
	SessionDir string        `key:"session_dir"` // absolute; "": see [Config.Sessions]
	Keep       int           `key:"keep"`        // sessions
	KeepFor    time.Duration `key:"keep_for"`    // 0: for ever
}

// A provenance is where a configuration came from.
type provenance struct {
	values  values // of all keys, for their origins
	paths   Paths
	trusted string // digest of a project file that needs trust and has it
}

// A CustomAgent is one of the user's own agents. Arguments may hold the placeholders
// {model}, {prompt} and {prompt_file}; [Load] has checked that there are no others, and
// that they fit Prompt.
type CustomAgent struct {
	Command       []string          `toml:"command"`        // never empty
	CriticCommand []string          `toml:"critic_command"` // read-only; empty: Command
	Prompt        string            `toml:"prompt"`         // "stdin", "pipe", "arg" or "file"
	Output        string            `toml:"output"`         // "text", or one of [transcript.Formats]
	ModelArgs     []string          `toml:"model_args"`     // appended when a model is set
	SessionArgs   []string          `toml:"session_args"`   // appended to begin a conversation
	ResumeArgs    []string          `toml:"resume_args"`    // appended to continue a conversation
	Env           map[string]string `toml:"env"`
	Install       string            `toml:"install"` // what to do when the command is missing
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

// validate checks the keys against each other.
func (c *Config) validate() error {
	critic := c.Agents[c.Critic.Agent]
	key, args := "command", critic.Command
	if len(critic.CriticCommand) > 0 {
		key, args = "critic_command", critic.CriticCommand
	}
	return slices.Concat(
		c.lacksModel("actor", c.Actor, "command", c.Agents[c.Actor.Agent].Command),
		c.lacksModel("critic", c.Critic, key, args),
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

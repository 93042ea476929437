package loop

// A Session is what a run starts with.
type Session struct {
	ID         string
	Prompt     string
	WorkingDir string
	Version    string // of codeloops
	View       string // how the critic and the checks see the work tree: "overlay", "clone", "copy", or "tree" for the work tree itself; "" in a log that does not tell
	Strategy   StrategyRef
	Task       string // of a queue, by its ID; "" for a run by itself
	Cast
	Base
	Terms
}

// A StrategyRef names a way of driving agents; the zero value is that of an actor and a
// critic.
type StrategyRef struct {
	Name       string
	Parameters []Parameter
}

// A Parameter is a setting of a strategy, by its key in the configuration without the
// table.
type Parameter struct{ Key, Value string }

// A Cast is who plays in a session.
type Cast struct {
	Actor  AgentRef
	Critic AgentRef
	// ActorFallback and CriticFallback are who plays on when one cannot, in this
	// order.
	ActorFallback  []AgentRef
	CriticFallback []AgentRef
}

// A Base is the work tree as a session found it, from which its change is counted.
type Base struct {
	BaseCommit  string // HEAD; "" when there was none
	Checkpoint  string // the commit that keeps the files
	Checkpoints string // the repository of that commit, from the directory of the log; "": the user's own
}

// Terms are what a run is held to from now on.
type Terms struct {
	MaxIterations int // 0: no limit
	Policy        Policy
	Rules         []Rule // none: a log that does not tell
	Deciders      []Decider
	Templates     []Template
	Flags         []Flag // what else the command line says of the run
}

// A Rule is a setting that holds a run: what work has to keep to be done, and what
// the run may cost. A rule that is not among those of a session is at its default.
type Rule struct {
	Key    string   // of the configuration
	Values []string // the elements of a list, or the one value
	Origin string   // where it was set
}

// A Decider is a file in the work tree that decides over the work, such as the
// critic's own program, as it was when the session began.
type Decider struct {
	Path   string // from the root, slash-separated
	Role   string // what it decides as
	SHA256 string // of its content, in hexadecimal digits; "" where it was not there
}

// A Flag is an option of the command line.
type Flag struct {
	Name   string   `json:"name"`             // without dashes
	Values []string `json:"values"`           // more than one where it was repeated
	Hidden bool     `json:"hidden,omitempty"` // there was a secret in it: the values are not kept
}

// A Template is a text of the user's own in which agents are asked from now on;
// the text itself is no part of a session.
type Template struct {
	Key    string // of the configuration
	Origin string // where it was set
	SHA256 string // of the text, in hexadecimal digits
}

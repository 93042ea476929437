package loop

// A Session is what a run starts with.
type Session struct {
	ID         string
	Prompt     string
	WorkingDir string
	Version    string // of codeloops
	View       string // what the critic and the checks work in: "overlay", "clone", "copy", or "tree" for the work tree itself; "" in a log that does not say
	Strategy   StrategyRef
	Task       string // ID of the queue's task; "" outside a queue
	Imported   bool   // the log came from another machine in a file, and may have been written by anybody
	Cast
	Base
	Terms
}

// A StrategyRef names a strategy; the zero value is actor-critic.
type StrategyRef struct {
	Name       string
	Parameters []Parameter
}

// A Parameter is a setting of a strategy, under its key in the configuration without the table.
type Parameter struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// A Cast names the agents of a session.
type Cast struct {
	Actor  AgentRef
	Critic AgentRef
	// ActorFallback and CriticFallback take over, in this order, when an agent cannot go on.
	ActorFallback  []AgentRef
	CriticFallback []AgentRef
}

// A Base is the work tree as a session found it; changes are counted from there.
type Base struct {
	BaseCommit  string `json:"base_commit,omitzero"` // HEAD; "" when there was none
	Checkpoint  string `json:"checkpoint,omitzero"`  // the commit that holds the files
	Checkpoints string `json:"checkpoints,omitzero"` // the repository of that commit, relative to the log's directory; "": the user's own
	Dirty       int    `json:"dirty_files,omitzero"` // files that differed from HEAD: changes of the user's own
	Judged      bool   `json:"judged,omitzero"`      // the work was done before the session, which only judges it
	Of          string `json:"judged_of,omitzero"`   // the iteration whose work is judged once more, as SESSION/N; "" for work that no session has judged
}

// Terms are the rules that a run is held to.
type Terms struct {
	MaxIterations int        `json:"-"` // 0: no limit
	Policy        Policy     `json:"policy,omitzero"`
	Templates     []Template `json:"templates,omitempty"`
	Rules         []Rule     `json:"rules,omitempty"` // empty: the log does not say
	Deciders      []Decider  `json:"deciders,omitempty"`
	Flags         []Flag     `json:"flags,omitempty"` // other command-line options of the run
}

// A Rule is a setting that restricts a run: what finished work must satisfy, and what the run may
// cost. A rule that a session does not list is at its default.
type Rule struct {
	Key    string   `json:"key"`              // in the configuration
	Values []string `json:"values,omitempty"` // the elements of a list, or a single value
	Origin string   `json:"origin"`           // where it was set
}

// A Decider is a file that influences the verdict, such as the critic's own
// program, as it was when the session began.
type Decider struct {
	Path   string `json:"path"`            // relative to the root, or absolute if it is outside, slash-separated
	Role   string `json:"role"`            // what it decides
	SHA256 string `json:"sha256,omitzero"` // of its content, in hex; "" if it did not exist
}

// A Flag is an option of the command line.
type Flag struct {
	Name   string   `json:"name"`             // without leading dashes
	Values []string `json:"values,omitempty"` // several if the option was repeated
	Hidden bool     `json:"hidden,omitzero"`  // the values held a secret and are not kept
}

// A Template is a text of the user's own for prompts; the text itself is not part of a session.
type Template struct {
	Key    string `json:"key"`    // in the configuration
	Origin string `json:"origin"` // where it was set
	SHA256 string `json:"sha256"` // of the text, in hex
}

package loop

// A Session is what a run starts with.
type Session struct {
	ID         string
	Prompt     string
	WorkingDir string
	Actor      AgentRef
	Critic     AgentRef
	// ActorFallback and CriticFallback are who plays on when one cannot, in this
	// order.
	ActorFallback  []AgentRef
	CriticFallback []AgentRef
	MaxIterations  int    // 0: no limit
	BaseCommit     string // HEAD when the session began; "" when there was none
	Checkpoint     string // the commit that keeps the work tree as the session found it
	Version        string // of codeloops
	Policy         Policy // that the run keeps from now on
	Rules          []Rule // that the run is held to from now on; none: a log that does not tell
	Deciders       []Decider
	Templates      []Template
	Flags          []Flag // what else the command line says of the run from now on
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
	Name   string   // without dashes
	Values []string // more than one where it was repeated
	Hidden bool     // there was a secret in it: the values are not kept
}

// A Template is a text of the user's own in which agents are asked from now on;
// the text itself is no part of a session.
type Template struct {
	Key    string // of the configuration
	Origin string // where it was set
	SHA256 string // of the text, in hexadecimal digits
}

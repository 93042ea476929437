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
	Templates      []Template
}

// A Template is a text of the user's own in which agents are asked from now on;
// the text itself is no part of a session.
type Template struct {
	Key    string // of the configuration
	Origin string // where it was set
	SHA256 string // of the text, in hexadecimal digits
}

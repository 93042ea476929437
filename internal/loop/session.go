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
}

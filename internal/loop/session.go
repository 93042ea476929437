package loop

// A Session is what a run starts with.
type Session struct {
	ID            string
	Prompt        string
	WorkingDir    string
	Actor         AgentRef
	Critic        AgentRef
	MaxIterations int    // 0: no limit
	BaseCommit    string // HEAD when the session began; "" when there was none
	Checkpoint    string // the commit that keeps the work tree as the session found it
	Version       string // of codeloops
	Policy        Policy // that the run keeps from now on
}

package agent

// opencode prints every message of the model, preambles too: the last one
// holds the answer.
func opencode() Spec {
	return Spec{
		Name:        "opencode",
		Binaries:    []string{"opencode"},
		VersionArgs: []string{"--version"},
		// Without --auto a question about a path outside the repository ends
		// the turn early, with exit code 0.
		Actor: []string{"run", "--auto", holdModelArgs},
		// The plan agent has no tools that edit; its shell is not restricted,
		// so it can run tests.
		Critic:    []string{"run", "--agent", "plan", holdModelArgs},
		ModelArgs: []string{"--model", holdModel},
		Prompt:    Stdin,
		Output:    Text,
		Streams:   true,
		Install:   "install it with `npm install -g opencode-ai`, then run `opencode auth login`",
		Tested:    true,
	}
}

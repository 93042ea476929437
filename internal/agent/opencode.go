package agent

// opencode is the agent of that name.
func opencode() Spec {
	return Spec{
		Name:        "opencode",
		Aliases:     []string{"opencode-ai"},
		Binaries:    []string{"opencode"},
		VersionArgs: []string{"--version"},
		// Without --auto a question about a path outside the repository ends
		// the turn early, with exit code 0.
		Actor: []string{"run", "--auto", "--format", "json"},
		// The plan agent has no tools that edit; its shell is not restricted,
		// so it can run tests.
		Critic:    []string{"run", "--agent", "plan", "--format", "json"},
		ModelArgs: []string{"--model", holdModel},
		Resume:    []string{"-s", holdConversation},
		Prompt:    Stdin,
		Output:    "opencode-json",
		Streams:   true,
		Credentials: append([]Credential{
			{File: ".local/share/opencode/auth.json"},
		}, providerKeys()...),
		Install: "install it with `npm install -g opencode-ai`",
		SignIn:  "run `opencode auth login`",
		Tested:  "1.18.33",
	}
}

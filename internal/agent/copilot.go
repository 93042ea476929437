package agent

// copilot is GitHub Copilot CLI.
func copilot() Spec {
	return Spec{
		Name:        "copilot",
		Aliases:     []string{"github-copilot", "copilot-cli"},
		Binaries:    []string{"copilot"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"--no-color", "--no-ask-user", "--allow-all-tools", "--output-format", "json"},
		// Plan mode blocks commands that it takes for writing, tests among
		// them. Denied, the tools that edit fail when they are used.
		Critic: []string{
			"--no-color", "--no-ask-user", "--allow-all-tools", "--deny-tool=write", "--output-format", "json",
		},
		ModelArgs: []string{"--model", holdModel},
		Resume:    []string{"--resume=" + holdConversation},
		Prompt:    Stdin,
		Output:    "copilot-json",
		Streams:   true,
		Install:   "install it with `npm install -g @github/copilot`, then run `copilot` once to log in",
		Tested:    "1.0.102",
	}
}

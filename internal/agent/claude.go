package agent

// claude is Anthropic's Claude Code.
func claude() Spec {
	return Spec{
		Name:        "claude",
		Aliases:     []string{"claude-code"},
		Binaries:    []string{"claude"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"-p", "--dangerously-skip-permissions", holdModelArgs},
		// A critic has to run tests. Plan mode denies it the shell, so the
		// tools that edit are taken away instead. The list takes every word
		// that follows it, so it stands last.
		Critic: []string{
			"-p", "--dangerously-skip-permissions", holdModelArgs,
			"--disallowedTools", "Write,Edit,NotebookEdit",
		},
		ModelArgs: []string{"--model", holdModel},
		Prompt:    Stdin,
		Output:    Text,
		Install:   "install it with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to log in",
		Tested:    true,
	}
}

package agent

// kilo is Kilo Code's command line, a relative of opencode.
func kilo() Spec {
	return Spec{
		Name:        "kilo",
		Aliases:     []string{"kilocode", "kilo-code"},
		Binaries:    []string{"kilo"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"run", "--auto", "--format", "json"},
		Critic:      []string{"run", "--agent", "plan", "--format", "json"},
		CriticOnly:  "run commands that read",
		ModelArgs:   []string{"--model", holdModel},
		Resume:      []string{"-s", holdConversation},
		Prompt:      Stdin,
		Output:      "opencode-json",
		Streams:     true,
		Credentials: append([]Credential{
			{File: ".local/share/kilo/auth.json"},
		}, providerKeys()...),
		Install: "install it with `npm install -g @kilocode/cli`",
		SignIn:  "run `kilo auth login`",
		Tested:  "7.7.9",
	}
}

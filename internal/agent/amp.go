package agent

// amp is Sourcegraph's Amp. Without a key it waits for somebody to log in. What
// it may do without asking is a matter of its settings, and so is a critic that
// must not edit; a model is one of its modes.
func amp() Spec {
	return Spec{
		Name:        "amp",
		Binaries:    []string{"amp"},
		VersionArgs: []string{"--version"},
		Actor:       []string{holdConversationArgs, "-x", "--stream-json"},
		Critic:      []string{"-x", "--stream-json"},
		ModelArgs:   []string{"--mode", holdModel},
		Resume:      []string{"threads", "continue", holdConversation},
		Prompt:      Stdin,
		Output:      "claude-stream-json",
		Streams:     true,
		Credentials: []Credential{
			{Env: "AMP_API_KEY"},
			{File: ".local/share/amp/secrets.json"},
		},
		Install: "install it with `npm install -g @sourcegraph/amp`",
		SignIn:  "run `amp login`",
	}
}

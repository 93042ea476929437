package agent

// crush is Charm's Crush. It has no read-only mode.
func crush() Spec {
	return Spec{
		Name:        "crush",
		Binaries:    []string{"crush"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"run", "--quiet"},
		Critic:      []string{"run", "--quiet"},
		ModelArgs:   []string{"--model", holdModel},
		Resume:      []string{"--session", holdConversation},
		Prompt:      Stdin,
		Output:      Text,
		Credentials: append([]Credential{
			{File: ".local/share/crush/crush.json", Key: "providers"},
		}, providerKeys()...),
		Install: "install it with `npm install -g @charmland/crush`",
		SignIn:  "run `crush` once to log in",
	}
}

package agent

// pi is the pi coding agent. Its JSON grows with the square of what it says:
// 200 KB of text make 10 MB. A model may be "provider/model".
func pi() Spec {
	return Spec{
		Name:        "pi",
		Aliases:     []string{"pi-coding-agent"},
		Binaries:    []string{"pi"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"--mode", "json"},
		// Tools that are not named are not offered.
		Critic:    []string{"--mode", "json", "--tools", "read,bash,grep,find,ls"},
		ModelArgs: []string{"--model", holdModel},
		Resume:    []string{"--session", holdConversation},
		Prompt:    Stdin,
		Output:    "pi-json",
		Streams:   true,
		Credentials: append([]Credential{
			{File: ".pi/agent/auth.json", Home: "PI_CODING_AGENT_DIR"},
			{File: ".pi/agent/models.json", Home: "PI_CODING_AGENT_DIR", Key: "providers"},
		}, providerKeys()...),
		Install: "install it with `npm install -g @mariozechner/pi-coding-agent`, then run `pi` once to log in",
		Tested:  "0.73.1",
	}
}

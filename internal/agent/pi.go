package agent

import "codeloops/internal/loop"

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
		Sayings: []Saying{
			{Line: "No API key found ", Ending: loop.EndAuth},
			{Line: "No API key for provider: ", Ending: loop.EndAuth},
			{Line: "No models available.", Ending: loop.EndAuth}, // without a key there are none
			{Line: "Authentication failed for ", Ending: loop.EndAuth},
		},
		Credentials: append([]Credential{
			{File: ".pi/agent/auth.json", Home: "PI_CODING_AGENT_DIR"},
			{File: ".pi/agent/models.json", Home: "PI_CODING_AGENT_DIR", Key: "providers"},
		}, providerKeys()...),
		Install: "install it with `npm install -g @earendil-works/pi-coding-agent`",
		Former:  "@mariozechner/pi-coding-agent",
		SignIn:  "run `pi` once to log in",
		Tested:  "0.87.1",
	}
}

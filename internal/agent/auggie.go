package agent

// auggie is Augment's command line.
func auggie() Spec {
	return Spec{
		Name:        "auggie",
		Aliases:     []string{"augment"},
		Binaries:    []string{"auggie"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"--print", "--quiet", "--instruction-file", holdPromptFile},
		// Ask mode has the tools alone that do not edit.
		Critic:     []string{"--print", "--quiet", "--ask", "--instruction-file", holdPromptFile},
		CriticOnly: "read",
		ModelArgs:  []string{"--model", holdModel},
		Resume:     []string{"--resume", holdConversation},
		Prompt:     File,
		Output:     Text,
		Credentials: []Credential{
			{Env: "AUGMENT_SESSION_AUTH"},
			{Env: "AUGMENT_API_TOKEN"},
			{File: ".augment/session.json"},
		},
		Install: "install it with `npm install -g @augmentcode/auggie`",
		SignIn:  "run `auggie login`",
	}
}

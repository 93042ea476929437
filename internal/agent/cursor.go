package agent

// cursor is Cursor's command line. It adds standard input to its prompt and
// refuses a work tree that it was not told to trust. When it fails it prints no
// JSON, whatever format it was asked for; as nobody has watched its formats
// here, it is asked for text.
func cursor() Spec {
	return Spec{
		Name:        "cursor",
		Aliases:     []string{"cursor-agent"},
		Binaries:    []string{"cursor-agent"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"-p", "--force", "--trust", "--output-format", "text", holdModelArgs},
		// Ask mode is its read-only one. Without a mode, print mode may write
		// even where --force is missing.
		Critic:     []string{"-p", "--mode", "ask", "--trust", "--output-format", "text", holdModelArgs},
		CriticOnly: "read",
		ModelArgs:  []string{"--model", holdModel},
		Resume:     []string{"--resume", holdConversation},
		Prompt:     Stdin,
		Output:     Text,
		Credentials: []Credential{
			{Env: "CURSOR_API_KEY"},
			{File: ".cursor/cli-config.json", Home: "CURSOR_CONFIG_DIR", Key: "authInfo"},
			{File: ".config/cursor/auth.json"},
		},
		Install: "install it with `curl https://cursor.com/install -fsS | bash`",
		SignIn:  "run `cursor-agent login`",
	}
}

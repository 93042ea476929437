package agent

import "codeloops/internal/loop"

// droid is Factory's Droid. It ends some seconds after its last word.
func droid() Spec {
	return Spec{
		Name:        "droid",
		Aliases:     []string{"factory", "factory-droid"},
		Binaries:    []string{"droid"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"exec", "--skip-permissions-unsafe", "-o", "stream-json"},
		// Without leave it has no tools that edit; its shell is not stopped from
		// writing.
		Critic:    []string{"exec", "-o", "stream-json"},
		ModelArgs: []string{"-m", holdModel},
		// -s goes on in the conversation itself, but not for somebody who is not
		// signed in; this goes on in a copy.
		Resume:  []string{"--fork", holdConversation},
		Prompt:  Stdin,
		Output:  "droid-stream-json",
		Streams: true,
		Sayings: []Saying{
			{Line: "Error: Authentication failed.", Ending: loop.EndAuth},
			{Line: "Authentication failed.", Ending: loop.EndAuth},
		},
		Credentials: []Credential{
			{Env: "FACTORY_API_KEY"},
			{File: ".factory/auth.json"},
			{File: ".factory/auth.encrypted"},
			{File: ".factory/settings.json", Key: "customModels"},
		},
		Install: "install it with `npm install -g @factory/cli`",
		SignIn:  "run `droid` once to log in",
		Tested:  "0.225.2",
	}
}

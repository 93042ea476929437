package agent

import "codeloops/internal/loop"

// copilot is GitHub Copilot CLI.
func copilot() Spec {
	return Spec{
		Name:        "copilot",
		Aliases:     []string{"github-copilot", "copilot-cli"},
		Binaries:    []string{"copilot"},
		VersionArgs: []string{"--version"},
		Actor: []string{
			"--no-color", "--no-ask-user", "--allow-all-tools", "--output-format", "json", "--usage-output-file", holdUsageFile,
		},
		// Plan mode blocks commands that it takes for writing, tests among
		// them. Denied, the tools that edit fail when they are used.
		Critic: []string{
			"--no-color", "--no-ask-user", "--allow-all-tools", "--deny-tool=write", "--output-format", "json",
			"--usage-output-file", holdUsageFile,
		},
		ModelArgs:    []string{"--model", holdModel},
		Begin:        []string{"--session-id=" + holdSessionID},
		Resume:       []string{"--resume=" + holdConversation},
		ResumeTotals: true,
		Prompt:       Stdin,
		Output:       "copilot-json",
		Streams:      true,
		Sayings: []Saying{
			{Line: "Error: No authentication information found.", Ending: loop.EndAuth},
			{Line: "Error: Authentication token found but could not be validated.", Ending: loop.EndAuth},
		},
		Credentials: []Credential{
			{Env: "COPILOT_GITHUB_TOKEN"},
			{Env: "GH_TOKEN"},
			{Env: "GITHUB_TOKEN"},
			{Env: "COPILOT_PROVIDER_API_KEY"},
			{Env: "COPILOT_PROVIDER_BASE_URL"}, // a service of the user's own may ask for no key
			{File: ".copilot/config.json", Home: "COPILOT_HOME", Key: "logged_in_users"},
			{File: ".copilot/config.json", Home: "COPILOT_HOME", Key: "loggedInUsers"},
		},
		Install: "install it with `npm install -g @github/copilot`",
		SignIn:  "run `copilot` once to log in",
		Tested:  "1.0.102",
	}
}

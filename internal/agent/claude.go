package agent

import "codeloops/internal/loop"

// claude is Anthropic's Claude Code. Its stream-json needs --verbose.
func claude() Spec {
	return Spec{
		Name:        "claude",
		Aliases:     []string{"claude-code"},
		Binaries:    []string{"claude"},
		VersionArgs: []string{"--version"},
		StatusArgs:  []string{"auth", "status"},
		Actor: []string{
			"-p", "--output-format", "stream-json", "--verbose",
			"--dangerously-skip-permissions", holdModelArgs, holdConversationArgs,
		},
		// A critic has to run tests. Plan mode denies it the shell, so the
		// tools that edit are taken away instead. The list takes every word
		// that follows it, so it stands last.
		Critic: []string{
			"-p", "--output-format", "stream-json", "--verbose",
			"--dangerously-skip-permissions", holdModelArgs, holdConversationArgs,
			"--disallowedTools", "Write,Edit,NotebookEdit",
		},
		ModelArgs:    []string{"--model", holdModel},
		Begin:        []string{"--session-id", holdSessionID},
		Resume:       []string{"--resume", holdConversation},
		ResumeTotals: true,
		Prompt:       Stdin,
		Output:       "claude-stream-json",
		Streams:      true,
		Sayings: []Saying{
			{
				Line:   "--dangerously-skip-permissions cannot be used with root/sudo privileges",
				Ending: loop.EndPermissionDenied,
				Hint:   "run codeloops as another user, or, in a container that may be changed, with IS_SANDBOX=1",
			},
			{Line: "Not logged in", Ending: loop.EndAuth},
			{Line: "Failed to authenticate.", Ending: loop.EndAuth},
		},
		Credentials: []Credential{
			{Env: "ANTHROPIC_API_KEY"},
			{Env: "ANTHROPIC_AUTH_TOKEN"},
			{Env: "CLAUDE_CODE_OAUTH_TOKEN"},
			{Env: "AWS_BEARER_TOKEN_BEDROCK"},
			{Env: "CLAUDE_CODE_USE_BEDROCK"},
			{Env: "CLAUDE_CODE_USE_VERTEX"},
			{File: ".claude/.credentials.json", Home: "CLAUDE_CONFIG_DIR"},
			{File: ".claude.json", Home: "CLAUDE_CONFIG_DIR", Key: "oauthAccount"}, // the key itself may be in the system's keyring
		},
		Install: "install it with `npm install -g @anthropic-ai/claude-code`",
		SignIn:  "run `claude` once to log in",
		Tested:  "2.1.329",
	}
}

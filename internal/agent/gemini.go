package agent

import "codeloops/internal/loop"

// gemini is Google's Gemini CLI. A folder that it was not told to trust it
// refuses to work in.
func gemini() Spec {
	return Spec{
		Name:        "gemini",
		Aliases:     []string{"gemini-cli"},
		Binaries:    []string{"gemini"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"--approval-mode", "yolo", "-o", "stream-json"},
		// Plan mode has no shell to run tests with, and asks for a plan. In
		// default mode whatever would have to be approved is not offered: of the
		// tools that change something the policy lets the shell alone in, with
		// redirections, which tests are rarely run without.
		Critic:    []string{"--approval-mode", "default", "--policy", holdPolicyFile, "-o", "stream-json"},
		Policy:    "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 900\nallowRedirection = true\n",
		ModelArgs: []string{"-m", holdModel},
		Begin:     []string{"--session-id", holdSessionID},
		Resume:    []string{"--resume", holdConversation},
		Prompt:    Stdin,
		Output:    "gemini-stream-json",
		Streams:   true,
		Exits: map[int]loop.Ending{
			41: loop.EndAuth,
			55: loop.EndPermissionDenied, // the folder is not trusted
			// The status of the service, of which an exit code has room for the
			// lowest eight bits: 401, 403, 429, 500, 503.
			145: loop.EndAuth, 147: loop.EndAuth, 173: loop.EndRateLimited, 244: loop.EndOverloaded, 247: loop.EndOverloaded,
		},
		Env: map[string]string{"GEMINI_CLI_TRUST_WORKSPACE": "true"},
		Credentials: []Credential{
			{Env: "GEMINI_API_KEY"},
			{Env: "GOOGLE_API_KEY"},
			{Env: "GOOGLE_APPLICATION_CREDENTIALS"},
			{File: ".gemini/oauth_creds.json"},
			{File: ".gemini/gemini-credentials.json"},
			{File: ".gemini/google_accounts.json", Key: "active"},
		},
		Install: "install it with `npm install -g @google/gemini-cli`",
		SignIn:  "run `gemini` once to log in",
		Tested:  "0.61.0",
	}
}

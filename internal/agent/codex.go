package agent

import "codeloops/internal/loop"

// codex is OpenAI's Codex CLI. It refuses a prompt of more than 1 048 576
// characters.
func codex() Spec {
	return Spec{
		Name:        "codex",
		Aliases:     []string{"codex-cli"},
		Binaries:    []string{"codex"},
		VersionArgs: []string{"--version"},
		StatusArgs:  []string{"login", "status"},
		Actor: []string{
			"exec", holdConversationArgs, "--dangerously-bypass-approvals-and-sandbox", "--json", holdModelArgs, "-",
		},
		// The sandbox holds for its shell as well: the critic can run whatever
		// needs no writing, and nothing it does can change the work tree.
		Critic: []string{
			"exec", "-s", "read-only", "--skip-git-repo-check", "--json", holdModelArgs, "-",
		},
		ModelArgs:    []string{"-m", holdModel},
		Resume:       []string{"resume", holdConversation},
		ResumeTotals: true,
		Prompt:       Stdin,
		Output:       "codex-json",
		Streams:      true,
		Sayings:      []Saying{{Line: "Missing environment variable", Ending: loop.EndAuth}},
		Credentials: []Credential{
			{Env: "CODEX_API_KEY"},
			{Env: "OPENAI_API_KEY"},
			{File: ".codex/auth.json", Home: "CODEX_HOME"},
		},
		Install: "install it with `npm install -g @openai/codex`",
		SignIn:  "run `codex login`",
		Tested:  "0.169.0",
	}
}

package agent

import "codeloops/internal/loop"

// qwen is Qwen Code, which took its options from Gemini CLI and its output from
// Claude Code.
func qwen() Spec {
	return Spec{
		Name:        "qwen",
		Aliases:     []string{"qwen-code"},
		Binaries:    []string{"qwen"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"--approval-mode", "yolo", "-o", "stream-json"},
		// The tools that are not named are not offered. In another mode, and where those
		// that edit are taken away by name, it refuses redirections.
		Critic: []string{
			"--approval-mode", "yolo", "--core-tools", "run_shell_command,read_file,grep_search,glob,list_directory", "-o", "stream-json",
		},
		ModelArgs:    []string{"-m", holdModel},
		Begin:        []string{"--session-id", holdSessionID},
		Resume:       []string{"--resume", holdConversation},
		ResumeTotals: true,
		Prompt:       Stdin,
		Output:       "qwen-stream-json",
		Streams:      true,
		Sayings: []Saying{
			{Line: "No auth type is selected.", Ending: loop.EndAuth},
			{Line: "Missing API key for ", Ending: loop.EndAuth},
		},
		Credentials: []Credential{
			{Env: "OPENAI_API_KEY"},
			{Env: "DASHSCOPE_API_KEY"},
			{File: ".qwen/oauth_creds.json", Home: "QWEN_HOME"},
		},
		Install: "install it with `npm install -g @qwen-code/qwen-code`",
		SignIn:  "run `qwen` once to log in",
		Tested:  "0.24.4",
	}
}

package agent

// cline is Cline's command line. It takes standard input from a pipe only, and
// with --json only beside a prompt among the arguments, which it puts in front.
// It can carry on a conversation with a terminal alone.
func cline() Spec {
	return Spec{
		Name:        "cline",
		Binaries:    []string{"cline"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"--json", holdModelArgs, "Do what follows."},
		// Plan mode has no tools that edit; its shell may write to the
		// directory for temporary files, where tests do.
		Critic:      []string{"--plan", "--json", holdModelArgs, "Do what follows."},
		ModelArgs:   []string{"-m", holdModel},
		Prompt:      Pipe,
		Output:      "cline-json",
		Streams:     true,
		Credentials: []Credential{{File: ".cline/data/settings/providers.json"}},
		Install:     "install it with `npm install -g cline`",
		SignIn:      "run `cline auth`",
		Tested:      "3.0.65",
	}
}

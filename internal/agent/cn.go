package agent

import "codeloops/internal/loop"

// cn is Continue's command line. Its JSON wraps the answer when it is done, and
// does not where the answer is JSON itself: it tells no more than text. The
// model is a matter of its configuration.
func cn() Spec {
	return Spec{
		Name:        "cn",
		Aliases:     []string{"continue"},
		Binaries:    []string{"cn"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"-p", "--auto"},
		// No tools that edit; its shell is not restricted.
		Critic: []string{"-p", "--readonly"},
		Prompt: Stdin,
		Output: Text,
		Sayings: []Saying{
			{Line: `{"status":"error","message":"401 `, Ending: loop.EndAuth},
			{Line: `{"status":"error","message":"400 API key not valid.`, Ending: loop.EndAuth}, // as Google says it
			{Line: `{"status":"error","message":"400 prompt is too long`, Ending: loop.EndContextTooLong},
			{Line: `{"status":"error","message":"429 `, Ending: loop.EndRateLimited},
			{Line: `{"status":"error","message":"529 `, Ending: loop.EndOverloaded},
			{Line: `{"status":"error","message":"500 `, Ending: loop.EndOverloaded},
			{Line: `{"status":"error","message":"Connection error.`, Ending: loop.EndOverloaded},
			{Line: `{"status":"error","message":"Premature close"`, Ending: loop.EndOverloaded}, // the answer breaks off
			{Line: `{"status":"error","message":"Context length exceeded`, Ending: loop.EndContextTooLong},
		},
		Credentials: []Credential{
			{Env: "CONTINUE_API_KEY"},
			{File: ".continue/auth.json"},
			{File: ".continue/config.yaml"}, // names models with their keys
		},
		Install: "install it with `npm install -g @continuedev/cli`",
		SignIn:  "run `cn login`",
		Tested:  "1.5.47",
	}
}

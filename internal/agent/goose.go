package agent

// goose is Block's Goose. It has no mode in which it can run commands but not
// edit.
func goose() Spec {
	return Spec{
		Name:        "goose",
		Binaries:    []string{"goose"},
		VersionArgs: []string{"--version"},
		Actor:       []string{"run", "--no-session", "--quiet", holdModelArgs, "-i", "-"},
		Critic:      []string{"run", "--no-session", "--quiet", holdModelArgs, "-i", "-"},
		ModelArgs:   []string{"--model", holdModel},
		Prompt:      Stdin,
		Output:      Text,
		Env:         map[string]string{"GOOSE_MODE": "auto"},
		Credentials: append([]Credential{
			{File: ".config/goose/secrets.yaml"},
			{File: ".config/goose/config.yaml"}, // names the service; its key is in the system's keyring
		}, providerKeys()...),
		Install: "see https://block.github.io/goose",
		SignIn:  "run `goose configure`",
	}
}

package agent

// claudeGateway is Claude Code with its models behind a gateway: a service of
// the user's own that speaks Anthropic's Messages API.
func claudeGateway() Spec {
	s := claude()
	s.Name, s.Aliases = "claude-gateway", []string{"claude-proxy"}
	s.Requires = [][]string{{"ANTHROPIC_BASE_URL"}, {"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"}}
	s.Credentials = []Credential{{Env: "ANTHROPIC_AUTH_TOKEN"}, {Env: "ANTHROPIC_API_KEY"}}
	// Whoever runs the gateway is not to get the token of a subscription; other
	// services that are switched on would pass the gateway by.
	s.DropEnv = []string{"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}
	s.Env = map[string]string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
	s.Install = "install it with `npm install -g @anthropic-ai/claude-code`"
	s.SignIn = "set ANTHROPIC_AUTH_TOKEN to what the gateway takes"
	return s
}

package tamper

import "strings"

// AgentSettings returns what agents take settings and instructions from: files, and
// directories of such files, in each directory in which agents look for them.
func AgentSettings() []string {
	all := strings.Fields("AGENTS.md AGENTS.local.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md CRUSH.md" +
		" .cursorrules .windsurfrules .clinerules .goosehints .mcp.json codeloops.toml" +
		" opencode.json opencode.jsonc kilo.json kilo.jsonc crush.json .crush.json .github/copilot-instructions.md .github/instructions .github/agents")
	for dir, names := range map[string]string{
		".agents":   "AGENTS.md agents commands rules skills",
		".amp":      "settings.json",
		".augment":  "settings.json commands rules",
		".claude":   "CLAUDE.md settings.json settings.local.json agents commands hooks output-styles plugins rules skills",
		".codex":    "AGENTS.md config.toml hooks.json prompts rules skills",
		".continue": "config.json config.yaml agents rules",
		".cursor":   "cli.json hooks.json mcp.json agents commands hooks rules",
		".factory":  "AGENTS.md mcp.json settings.json settings.local.json commands droids hooks skills",
		".gemini":   "GEMINI.md settings.json agents commands extensions hooks skills",
		".kilocode": "mcp.json rules workflows",
		".opencode": "opencode.json opencode.jsonc agent agents command commands mode modes plugin plugins tool tools",
		".pi":       "SYSTEM.md APPEND_SYSTEM.md settings.json extensions prompts skills",
		".qwen":     "QWEN.md settings.json agents commands",
	} {
		for name := range strings.FieldsSeq(names) {
			all = append(all, dir+"/"+name)
		}
	}
	return all
}

package e2e

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"runtime"
	"strings"
)

// A cli is a real agent: how it is installed, and how it is configured to use the scripted model.
type cli struct {
	name    string
	pkg     string // on npm
	version string // the tested one
	bin     string // the program, relative to the installation
	node    string // the version of Node that it needs, installed beside it; "": any will do
	model   string // what codeloops has to ask for; "" if the configuration says it
	env     func(url string) []string
	files   func(url string) map[string]string // relative to the home
}

// Nothing here is a secret: only the scripted model accepts it.
const (
	madeUp = "made-up-key-of-the-e2e-tests"
	theLLM = "scripted-model"
)

// clis lists the agents by the size of their installation, the smallest first.
func clis() []cli {
	platform := runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	return []cli{
		{
			name: "cn", pkg: "@continuedev/cli", version: "1.5.47",
			files: func(url string) map[string]string { return map[string]string{".continue/config.yaml": cnConfig(url)} },
		},
		{
			name: "gemini", pkg: "@google/gemini-cli", version: "0.61.0",
			env: func(url string) []string {
				return []string{"GEMINI_API_KEY=" + madeUp, "GOOGLE_GEMINI_BASE_URL=" + url}
			},
			files: func(string) map[string]string {
				return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},` +
					`"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false,"maxAttempts":2}}`}
			},
		},
		{
			name: "qwen", pkg: "@qwen-code/qwen-code", version: "0.24.4",
			env: func(url string) []string {
				return []string{"OPENAI_API_KEY=" + madeUp, "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=" + theLLM}
			},
			files: func(string) map[string]string {
				return map[string]string{".qwen/settings.json": `{"privacy":{"usageStatisticsEnabled":false},` +
					`"security":{"auth":{"selectedType":"openai"}}}`}
			},
		},
		{
			name: "copilot", pkg: "@github/copilot", version: "1.0.102",
			env: func(url string) []string {
				return []string{
					"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=" + madeUp,
					"COPILOT_MODEL=" + theLLM, "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
				}
			},
		},
		{
			name: "pi", pkg: "@earendil-works/pi-coding-agent", version: "1.6.0", model: "local/" + theLLM, node: "22.23.3",
			env: func(string) []string { return []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"} },
			files: func(url string) map[string]string {
				return map[string]string{".pi/agent/models.json": fmt.Sprintf(
					`{"providers":{"local":{"baseUrl":%q,"api":"openai-completions","apiKey":%q,"models":[{"id":%q}]}}}`,
					url+"/v1", madeUp, theLLM)}
			},
		},
		{
			name: "kilo", pkg: "@kilocode/cli-" + platform, version: "7.7.9",
			bin: "node_modules/@kilocode/cli-" + platform + "/bin/kilo", env: openCodeEnv,
			files: func(url string) map[string]string {
				return map[string]string{".config/kilo/kilo.json": openCodeConfig(url)}
			},
		},
		{
			name: "droid", pkg: "@factory/cli-" + platform, version: "0.225.2", model: "custom:scripted-0",
			bin: "node_modules/@factory/cli-" + platform + "/bin/droid",
			files: func(url string) map[string]string {
				return map[string]string{".factory/settings.json": fmt.Sprintf(
					`{"customModels":[{"model":%q,"displayName":"scripted","baseUrl":%q,"apiKey":%q,`+
						`"provider":"generic-chat-completion-api","maxOutputTokens":4096}]}`, theLLM, url+"/v1", madeUp)}
			},
		},
		{
			name: "opencode", pkg: "opencode-ai", version: "1.18.33", env: openCodeEnv,
			files: func(url string) map[string]string {
				return map[string]string{".config/opencode/opencode.json": openCodeConfig(url)}
			},
		},
		{
			name: "claude", pkg: "@anthropic-ai/claude-code", version: "2.1.332",
			env: func(url string) []string {
				return []string{
					"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + madeUp, "IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
				}
			},
		},
		{
			name: "codex", pkg: "@openai/codex", version: "0.171.0",
			env:   func(string) []string { return []string{"LOCAL_KEY=" + madeUp} },
			files: func(url string) map[string]string { return map[string]string{".codex/config.toml": codexConfig(url)} },
		},
		{
			name: "cline", pkg: "cline", version: "3.0.65",
			// Its runs share a helper process, whatever their homes, and codeloops ends what a
			// turn leaves running: each run must have its own.
			env: func(url string) []string { return []string{fmt.Sprintf("CLINE_HUB_PORT=%d", hubPort(url))} },
			files: func(url string) map[string]string {
				return map[string]string{".cline/data/settings/providers.json": fmt.Sprintf(
					`{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":{"settings":`+
						`{"provider":"openai-compatible","apiKey":%q,"model":%q,"baseUrl":%q},`+
						`"updatedAt":"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}`, madeUp, theLLM, url+"/v1")}
			},
		},
	}
}

// hubPort returns a port for the address of a model, below the system's range of ephemeral ports.
func hubPort(url string) uint32 {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(url)) // it never fails
	return 10000 + sum.Sum32()%20000
}

func openCodeEnv(string) []string {
	return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
}

func openCodeConfig(url string) string {
	return fmt.Sprintf(`{"provider":{"local":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":%q},`+
		`"models":{%[3]q:{"name":"scripted"}}}},"model":"local/%[4]s","small_model":"local/%[4]s",`+
		`"autoupdate":false,"share":"disabled"}`, url+"/v1", madeUp, theLLM, theLLM)
}

func codexConfig(url string) string {
	return fmt.Sprintf(`model = %q
model_provider = "local"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.local]
name = "local"
base_url = %q
wire_api = "responses"
env_key = "LOCAL_KEY"
request_max_retries = 1
stream_max_retries = 1
`, theLLM, url+"/v1")
}

func cnConfig(url string) string {
	return fmt.Sprintf(`name: scripted
version: 1.0.0
schema: v1
models:
  - name: scripted
    provider: openai
    model: %s
    apiBase: %s/v1
    apiKey: %s
    capabilities: [tool_use]
`, theLLM, url, madeUp)
}

// runtime returns the path of Node in its installation; "" if it needs none.
func (c cli) runtime() string {
	if c.node == "" {
		return ""
	}
	return filepath.Join(installed(c), "node_modules", ".bin", "node")
}

// program returns the path of the program in its installation.
func (c cli) program() string {
	bin := c.bin
	if bin == "" {
		bin = "node_modules/.bin/" + c.name
	}
	return filepath.Join(installed(c), filepath.FromSlash(bin))
}

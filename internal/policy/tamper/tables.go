package tamper

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed tables.toml
var tablesFile string

// Tables are the expressions that detectors go by, and the languages that are known.
type tables struct {
	Languages []*language `toml:"language"`
	places
	settings
	failures
	recipes
	Values values
}

// readTables reads the tables.
func readTables() (*tables, error) {
	t := &tables{}
	meta, err := toml.Decode(tablesFile, t)
	if unknown := meta.Undecoded(); err == nil && len(unknown) > 0 {
		err = fmt.Errorf("unknown keys: %v", unknown)
	}
	for _, l := range t.Languages {
		l.complete()
	}
	return t, err
}

// Places are expressions for files that are known by their names.
type places struct {
	OtherTest *probe `toml:"other_test"` // files with tests in languages that are not known
	Setup     *probe // files that are read before all tests
	CI        *probe
	Golden    *probe
	Runner    *probe // configuration of tests, whole files of it
	Linter    *probe // the same of linters
	Mixed     *probe // files with such configuration among other things
	Builds    *probe // builds that declare tests one by one
	Stands    *probe // what is found instead of a test runner, or of what it uses
	Checks    *probe // scripts that check something
}

// Settings are expressions for lines of configuration, and for where they stand.
type settings struct {
	RunnerPart *probe `toml:"runner_part"` // sections of mixed files
	LinterPart *probe `toml:"linter_part"`
	Part, Key  *probe // lines of them, wherever they stand
	Narrows    *probe // keys that say which tests are run, or what becomes of a failure
	Options    *probe // of a runner, that say so
	Anywhere   *probe // what hides a failure, or keeps tests from being run
	Targets    *probe // of a package of Rust, what does
	Tested     *probe // what is called like tests
	Member     *probe // what makes something a part of a project
}

// Failures are expressions for lines that hide a failure.
type failures struct {
	Swallows, Ignores *probe // in what they run; by what they say
	Tidies            *probe // commands that may fail
	Pipes             *probe // a command whose exit code is lost
	Exits             *probe // the same in a script of which one knows that it checks
	Runs              *probe // lines that check something
}

// Recipes are expressions for lines of makefiles.
type recipes struct {
	Target, Check *probe // targets, and those that check
	Assigned      *probe // a variable
	Decides       *probe // what decides over all recipes
	Nothing       *probe // a value that does nothing
	Harmless      *probe // what decides over all recipes, and hides nothing
}

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

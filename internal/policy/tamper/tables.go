package tamper

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed tables.toml
var tablesFile string

// tables hold the expressions that the detectors use, and the known languages.
type tables struct {
	Languages []*language `toml:"language"`
	places
	settings
	failures
	recipes
	libraries
	Values values
}

func readTables() (*tables, error) {
	t := &tables{}
	meta, err := toml.Decode(tablesFile, t)
	if unknown := meta.Undecoded(); err == nil && len(unknown) > 0 {
		err = fmt.Errorf("unknown keys: %v", unknown)
	}
	for _, l := range t.Languages {
		if l.Block {
			l.Spans = append(l.Spans, span{Begin: "/*", End: "*/"})
		}
	}
	return t, err
}

// places match the paths of files.
type places struct {
	OtherTest *probe `toml:"other_test"` // files with tests in unknown languages
	Setup     *probe // files that are read before all tests
	CI        *probe
	Golden    *probe
	Runner    *probe // files that only configure the tests
	Linter    *probe // files that only configure linters
	Mixed     *probe // files with such configuration among other things
	Builds    *probe // builds that declare tests one by one
	Stands    *probe // files that are found instead of a test runner, or of what it uses
	Programs  *probe // the same, if they can be run
	Checks    *probe // scripts that check something
}

// libraries match what tests use besides the tested code.
type libraries struct {
	Library   *probe
	Vendored  *probe // paths of copied libraries; what is below is the group
	Sources   *probe // files that say where libraries come from
	Elsewhere *probe // a line that takes a library from elsewhere; its name is the one group that is not empty
}

// settings match lines of configuration files, and sections.
type settings struct {
	RunnerPart *probe `toml:"runner_part"` // sections of mixed files
	LinterPart *probe `toml:"linter_part"`
	Part, Key  *probe // lines that matter in any section
	Narrows    *probe // keys that select tests or hide failures
	Options    *probe // options of a runner that do so
	Anywhere   *probe // what hides failures or keeps tests from being run
	Targets    *probe // the same in a Cargo target
	Tested     *probe // names of tests
	Ignored    *probe // what a Go module leaves out
	Member     *probe // what makes something a part of a project
}

// failures match lines that hide a failure.
type failures struct {
	Swallows, Ignores *probe // by the command, and by an option
	Tidies            *probe // commands that may fail
	Pipes             *probe // a command whose exit code is lost
	Exits             *probe // the same in a script that is known to check something
	Runs              *probe // lines that check something
	Opens, Closes     *probe // a block of a script
}

// recipes match lines of makefiles, and of files of CMake.
type recipes struct {
	Target, Check *probe // any target, and one that checks something
	Assigned      *probe // a variable
	Decides       *probe // what affects all recipes
	Nothing       *probe // a value that does nothing
	Defines       *probe // begins a condition or a definition
	Defined       *probe // ends it
	Harmless      *probe // what affects all recipes but hides nothing
	Registers     *probe // a call in CMake that declares a test; its name is the group
	Forgives      *probe // a call in CMake that lets tests fail; their names are the group
}

// AgentSettings returns the files, and the directories of files, from which agents read
// settings and instructions, relative to any directory in which they look.
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

// Package project finds out how a project is tested, from its own files.
package project

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"codeloops/internal/file"
)

// Tests returns the commands that test a project: the test target of a Makefile or
// justfile if there is one, otherwise at most one command for each kind of manifest.
func Tests(dir string) (checks []string) {
	read := func(name string) []byte {
		text, _, err := file.Read(filepath.Join(dir, name), file.Options{}) // the project may be a stranger's
		if err != nil {
			return nil
		}
		return text
	}
	for _, task := range []struct{ command, files, target string }{
		{"make test", "GNUmakefile makefile Makefile", `(?m)^test[^:=\n]*:([^=]|$)`},
		{"just test", "justfile Justfile .justfile", `(?m)^@?test(\s[^:\n]*)?:([^=]|$)`},
	} {
		for name := range strings.FieldsSeq(task.files) {
			if regexp.MustCompile(task.target).Match(read(name)) {
				return []string{task.command}
			}
		}
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	for _, command := range []string{
		always("go test ./...", read("go.mod")),
		npmTest(read("package.json"), there),
		always("cargo test", read("Cargo.toml")),
		pythonTest(read("pyproject.toml"), there),
	} {
		if command != "" {
			checks = append(checks, command)
		}
	}
	return checks
}

// always returns the command if the manifest exists.
func always(command string, manifest []byte) string {
	if manifest == nil {
		return ""
	}
	return command
}

// npmTest returns the command that tests a Node.js package, with the package manager
// whose lock file there is; "" if it has no tests.
func npmTest(text []byte, there func(string) bool) string {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	script := ""
	if json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &manifest) == nil {
		script = manifest.Scripts["test"]
	}
	if script == "" || strings.Contains(script, "no test specified") { // npm init's own
		return ""
	}
	for _, manager := range []struct{ lock, command string }{
		{"pnpm-lock.yaml", "pnpm test"}, {"yarn.lock", "yarn test"}, {"bun.lock", "bun run test"}, {"bun.lockb", "bun run test"},
	} {
		if there(manager.lock) {
			return manager.command
		}
	}
	return "npm test"
}

// pythonTest returns the command that tests a Python project; "" if it seems to have no
// tests.
func pythonTest(text []byte, there func(string) bool) string {
	var project struct {
		Tool map[string]any `toml:"tool"`
	}
	if text == nil || toml.Unmarshal(text, &project) != nil {
		return ""
	}
	if _, configured := project.Tool["pytest"]; !configured && !there("tests") && !there("test") {
		return ""
	}
	switch {
	case there("uv.lock"):
		return "uv run pytest"
	case there("poetry.lock"):
		return "poetry run pytest"
	}
	return "python -m pytest"
}

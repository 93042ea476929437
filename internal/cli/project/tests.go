// Package project tells how a project is tested, from its own files.
package project

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// Tests returns the commands that test a project, as its own files name
// them: at most one for each kind of file, and nothing else beside a Makefile or a
// justfile that knows how.
func Tests(dir string) (checks []string) {
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
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
	for _, kind := range []struct {
		file    string
		command func(text []byte, there func(name string) bool) string
	}{
		{"go.mod", func([]byte, func(string) bool) string { return "go test ./..." }},
		{"package.json", npmTest},
		{"Cargo.toml", func([]byte, func(string) bool) string { return "cargo test" }},
		{"pyproject.toml", pythonTest},
	} {
		text := read(kind.file)
		if text == nil {
			continue
		}
		there := func(name string) bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil
		}
		if command := kind.command(text, there); command != "" {
			checks = append(checks, command)
		}
	}
	return checks
}

// npmTest is how the tests of a package of Node.js are run, by whichever manager
// has left its lock file; "" where it has none.
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

// pythonTest is how the tests of a Python project are run; "" where nothing says
// that there are any.
func pythonTest(text []byte, there func(string) bool) string {
	var project struct {
		Tool map[string]any `toml:"tool"`
	}
	if toml.Unmarshal(text, &project) != nil {
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

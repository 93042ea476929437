package deciding

import (
	"slices"
	"strings"
)

// A kind is a kind of interpreter.
type kind int

const (
	notOne kind = iota
	shell
	other
)

// interpreter returns what kind of interpreter a program is, by its name without a version.
func interpreter(program string) kind {
	program = program[strings.LastIndexByte(program, '/')+1:]
	program = strings.TrimSuffix(strings.TrimRight(program, "0123456789.-"), ".exe")
	switch program {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish":
		return shell
	case "python", "pypy", "node", "nodejs", "bun", "deno", "tsx", "ts-node", "ruby", "perl", "php", "lua", "Rscript",
		"java", "pwsh", "powershell", "tclsh", "expect", "awk", "gawk", "bats", "osascript", "groovy", "elixir", "raku":
		return other
	}
	return notOne
}

// runsAnother reports whether a program runs the command in its arguments.
func runsAnother(program string) bool {
	switch program {
	case "env", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "sudo", "doas", "xargs", "xvfb-run", "chronic", "flock",
		"busybox", "uv", "uvx", "poetry", "pipenv", "pdm", "hatch", "rye", "npx", "bunx", "pnpx", "strace", "time", "caffeinate", "unbuffer", "catchsegv",
		"arch", "cmd", "start", "bundle", "fakeroot", "dbus-run-session", "taskset", "direnv", "dotenv", "mise":
		return true
	}
	return false
}

// innerCommand returns the command that a program such as timeout or uv runs: what follows its
// own flags, numbers and words such as run. value is set if it follows a flag, and may be the
// value of that.
func innerCommand(args []string) (words []string, value bool) {
	for i, arg := range args {
		number := arg != "" && arg[0] >= '0' && arg[0] <= '9' // of seconds, of jobs
		word := arg == "run" || arg == "exec" || arg == "-" || arg == "--"
		if !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "/c") && !number && !word && !assigns(arg) {
			return args[i:], i > 0 && strings.HasPrefix(args[i-1], "-") && args[i-1] != "--"
		}
	}
	return nil, false
}

// recipesOf returns the files that tell a tool what to run. The tool uses the first one that
// exists, so a new file may replace another.
func recipesOf(tool string) []string {
	for tools, files := range map[string]string{
		"make gmake":        "GNUmakefile makefile Makefile",
		"just":              "justfile Justfile .justfile",
		"task go-task":      "Taskfile.yml taskfile.yml Taskfile.yaml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml",
		"npm pnpm yarn bun": "package.json",
		"deno":              "deno.json deno.jsonc",
		"composer":          "composer.json",
		"rake":              "Rakefile rakefile Rakefile.rb rakefile.rb",
		"tox":               "tox.ini",
		"nox":               "noxfile.py",
		"inv invoke":        "tasks.py",
		"mage":              "magefile.go",
		"pre-commit":        ".pre-commit-config.yaml",
	} {
		if slices.Contains(strings.Fields(tools), tool) {
			return strings.Fields(files)
		}
	}
	return nil
}

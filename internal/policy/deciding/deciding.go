// Package deciding finds the files that decide about the work of a session: the programs
// and scripts that checks and critics run, and the instructions and settings of agents.
//
// Command lines are parsed without looking at the disk: the files may not exist, and files
// that a script runs are not found.
package deciding

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Shell returns the files that a shell command line runs, such as tools/check.sh in
// `cd tools && sh check.sh` and the Makefile in `make test`, and the programs that it finds
// in PATH, including shell builtins and keywords. The paths are relative to where the line
// is run or absolute, slash-separated, clean and without duplicates.
func Shell(line string) (files, programs []string) {
	var n names
	n.line(line, 0)
	return n.files, n.programs
}

// Scripts returns those of the files that are run themselves: not a Makefile or a package.json, which
// say what to run.
func Scripts(line string) []string {
	n := names{scripts: true}
	n.line(line, 0)
	return n.files
}

// Argv returns the files that a command, given as a list of arguments, runs. It includes
// every argument that could be a path, because such a command has only the program and what
// it needs.
func Argv(argv []string) []string {
	var n names
	n.command(argv, 0)
	for _, arg := range argv {
		if _, value, ok := strings.Cut(arg, "="); ok {
			arg = value
		}
		if !strings.HasPrefix(arg, "-") && !strings.ContainsAny(arg, " \n{}") {
			n.add(arg)
		}
	}
	return n.files
}

// Within returns the files inside a root, relative to it. Relative files begin in dir; root
// and dir are absolute.
func Within(root, dir string, files []string) []string {
	var in []string
	for _, file := range files {
		name := filepath.FromSlash(file)
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) && rel != "." {
			in = append(in, filepath.ToSlash(rel))
		}
	}
	return in
}

// names collects the files of a command line.
type names struct {
	files    []string
	programs []string
	in       string              // the directory after `cd`, "" at the beginning
	values   map[string][]string // of the variables that the line sets
	scripts  bool                // recipes are left out
}

func (n *names) add(file string) {
	if values, ok := n.values[strings.Trim(file, "${}")]; ok && strings.HasPrefix(file, "$") {
		for _, value := range values {
			n.add(ahead(value))
		}
		return
	}
	file = rooted(file)
	if file == "" || strings.ContainsAny(file, "$`*?\x00") {
		return // its expansion is not known
	}
	if !path.IsAbs(file) {
		file = path.Join(n.in, file)
	}
	if file = path.Clean(file); file != "." && !slices.Contains(n.files, file) {
		n.files = append(n.files, file)
	}
}

// ahead returns the directory above the first wildcard of a path: tools for tools/*.sh.
func ahead(file string) string {
	if i := strings.IndexAny(file, "*?["); i >= 0 {
		return path.Dir(file[:i] + "x")
	}
	return strings.TrimLeft(file, "$") // variables in values are not expanded
}

// sets records the values that a command gives to variables: X=a.sh, for X in a.sh.
func (n *names) sets(words []string) {
	if n.values == nil {
		n.values = map[string][]string{}
	}
	if len(words) > 3 && words[0] == "for" && words[2] == "in" {
		n.values[words[1]] = words[3:]
	}
	for _, word := range words {
		if !assigns(word) {
			return
		}
		name, value, _ := strings.Cut(word, "=")
		n.values[name] = []string{value}
	}
}

// rooted removes an expansion that names the current directory or the root: $PWD/,
// $(git rev-parse --show-toplevel)/ and the like.
func rooted(file string) string {
	if !strings.HasPrefix(file, "$") && !strings.HasPrefix(file, "`") {
		return file
	}
	end := strings.IndexByte(file, '/')
	if closed := strings.LastIndexAny(file, ")}`"); closed > end {
		end = closed + 1
	}
	if end < 0 || end >= len(file) || file[end] != '/' {
		return ""
	}
	return file[end+1:]
}

// maxDepth limits how deeply command lines nest: sh -c "sh -c '…'".
const maxDepth = 5

// line collects the files of every command of a line.
func (n *names) line(line string, depth int) {
	if depth > maxDepth {
		return
	}
	from := n.in
	var before []string
	for _, c := range split(line) {
		n.sets(c.words)
		n.command(c.words, depth)
		input := c.input                                                // sh <check.sh
		if len(c.words) == 1 && len(before) > 1 && before[0] == "cat" { // cat check.sh | sh
			input = append(input, before[1:]...)
		}
		before = c.words
		for _, file := range input {
			if interpreter(c.words[0]) != notOne {
				n.add(file)
			}
		}
		if c.leaves { // a subshell ends, and so does its directory
			n.in = from
		}
	}
}

// command collects what one simple command runs.
func (n *names) command(words []string, depth int) { //nolint:gocyclo // the steps belong together, and read top to bottom
	words = stripped(words)
	if len(words) == 0 {
		return
	}
	name, args := path.Base(filepath.ToSlash(words[0])), words[1:]
	if isFile(words[0]) {
		n.add(words[0])
	} else if !slices.Contains(n.programs, words[0]) && !strings.ContainsAny(words[0], "$`*?\x00") {
		n.programs = append(n.programs, words[0])
	}
	if recipes := recipesOf(name); recipes != nil && !n.scripts {
		n.recipes(recipes, args)
	}
	switch {
	case name == "cd":
		n.enter(args)
	case (name == "." || name == "source") && len(args) > 0:
		n.add(args[0])
	case name == "eval":
		n.line(strings.Join(args, " "), depth+1)
	case name == "go" && len(args) > 1 && args[0] == "run":
		n.script(other, args[1:], depth)
	case n.another(name, args, depth):
	default:
		n.script(interpreter(name), args, depth)
	}
}

// isFile reports whether a command is a file and not found in PATH: ./check, and check.py in
// `uv run check.py`.
func isFile(command string) bool { return strings.Contains(command, "/") || path.Ext(command) == ".py" }

// another collects what a program that runs other programs runs; it returns false for any
// other program.
func (n *names) another(name string, args []string, depth int) bool {
	switch {
	case name == "run-parts" && len(args) > 0:
		n.add(args[len(args)-1])
	case name == "env" && len(args) > 1 && (args[0] == "-C" || args[0] == "--chdir"):
		from := n.in
		n.enter(args[1:])
		n.inner(args[2:], depth)
		n.in = from
	case runsAnother(name):
		n.inner(args, depth)
	default:
		return false
	}
	return true
}

// inner collects what the command in a program's arguments runs. Its first word may be the
// value of a flag: env -u NAME sh check.sh.
func (n *names) inner(args []string, depth int) {
	words, value := innerCommand(args)
	n.command(words, depth+1)
	if value {
		n.inner(words[1:], depth)
	}
}

func (n *names) enter(args []string) {
	for _, dir := range args {
		if !strings.HasPrefix(dir, "-") {
			if dir = rooted(dir); path.IsAbs(dir) {
				n.in = path.Clean(dir)
			} else {
				n.in = path.Join(n.in, dir)
			}
			return
		}
	}
}

// recipes collects the files that tell a tool such as make what to run.
func (n *names) recipes(files, args []string) {
	dir := ""
	for i, arg := range args {
		flag, value, attached := strings.Cut(arg, "=")
		switch {
		case attached:
		case len(arg) > 2 && arg[0] == '-' && arg[1] != '-':
			flag, value = arg[:2], arg[2:] // -Csub
		case i+1 < len(args):
			value = args[i+1]
		}
		switch flag {
		case "-C", "--directory", "--prefix", "--cwd", "--dir":
			dir = value
		case "-f", "--file", "--makefile", "--justfile", "--taskfile", "-c":
			n.add(path.Join(dir, value))
		}
	}
	for _, file := range files {
		n.add(path.Join(dir, file))
	}
}

// script collects the file that an interpreter runs.
func (n *names) script(kind kind, args []string, depth int) {
	for i := 0; i < len(args) && kind != notOne; i++ {
		arg, next := args[i], ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case kind == shell && isCommandFlag(arg):
			n.line(next, depth+1)
			return
		case kind == other && slices.Contains([]string{"-c", "-e", "--eval"}, arg):
			return // the program is in the argument itself
		case kind == other && arg == "-m":
			n.module(next)
			return
		case kind == shell && slices.Contains([]string{"-o", "-O", "+o"}, arg):
			i++
		case strings.IndexAny(arg, "-+") == 0:
		default:
			n.add(arg)
			if kind == shell || strings.ContainsAny(arg, "./") {
				return
			} // otherwise it may be the value of a flag: python -W error check.py
		}
	}
}

// module collects the files that may hold a Python module.
func (n *names) module(name string) {
	file := strings.ReplaceAll(name, ".", "/")
	n.add(file + ".py")
	n.add(file + "/__main__.py")
}

// isCommandFlag reports whether a shell's flag is followed by a command line: -c, -ec.
func isCommandFlag(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
}

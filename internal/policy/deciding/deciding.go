// Package deciding finds the files that decide about the work of a session: the programs and scripts
// that checks and critics run, and the instructions and settings of agents.
//
// Every word of a command line that is a program of the work tree is taken for one that decides,
// whatever the command does with it. Files that a script runs are not followed, and what stands in
// $(…) is what is judged.
package deciding

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Shell returns the words of a shell command line, also of those that stand in one of its words, as in
// sh -c '…'. Of a word with an expansion it returns what follows the expansion.
func Shell(line string) (words []string) { return distinct(shell(line, 0)) }

// maxDepth limits how deeply command lines nest: sh -c "sh -c '…'".
const maxDepth = 5

func shell(line string, depth int) (words []string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return strings.Fields(line) // not a line of a POSIX shell: its words all the same
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst:
			return false
		case *syntax.Redirect:
			return n.Op == syntax.RdrIn // it writes the others, or they are texts
		case *syntax.Word:
			word := literal(n.Parts, "")
			words = append(words, word)
			if depth < maxDepth && strings.ContainsAny(word, " \t\n;") {
				words = append(words, shell(word, depth+1)...)
			}
		}
		return true
	})
	return words
}

// literal returns the text of a word, or what follows its last expansion.
func literal(parts []syntax.WordPart, text string) string {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text += unescaped(p.Value)
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			text = literal(p.Parts, text)
		default:
			text = "" // what it expands to is not known
		}
	}
	return text
}

func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Argv returns the words of a command that is given as a list of arguments: an argument may hold a
// command line.
func Argv(argv []string) (words []string) {
	for _, arg := range argv {
		if words = append(words, arg); strings.ContainsAny(arg, " \t\n;") {
			words = append(words, shell(arg, 1)...)
		}
	}
	return distinct(words)
}

// Files returns the files of a tree that words name, relative to its root. A word may be relative to
// the directory that another one names, as in cd tools && sh check.sh, and may be part of a flag. Paths
// that do not exist are among them, because the actor may write them.
func (t Tree) Files(words []string) (files []string) {
	var names, dirs []string
	for _, word := range words {
		names = append(names, named(word)...)
	}
	for _, name := range names {
		if st, err := os.Stat(t.absolute("", name)); err == nil && st.IsDir() {
			dirs = append(dirs, name)
		}
	}
	for _, name := range names {
		files = append(files, t.at("", name, pathlike(name))...)
		for _, dir := range dirs {
			files = append(files, t.at(dir, name, false)...)
		}
		if strings.HasPrefix(name, "/") { // behind an expansion that names the root
			files = slices.Concat(files, t.at("", name[1:], false), t.at(t.Root, name[1:], false))
		}
	}
	return distinct(files)
}

// at returns the files that a name stands for in a directory; always: also if they do not exist.
func (t Tree) at(dir, name string, always bool) (files []string) {
	for _, found := range expanded(t.absolute(dir, name)) {
		rel, err := filepath.Rel(t.Root, found)
		if err != nil || !filepath.IsLocal(rel) || rel == "." {
			continue
		}
		if st, err := os.Lstat(found); err == nil && !st.IsDir() || err != nil && always {
			files = append(files, filepath.ToSlash(rel))
		}
	}
	return files
}

// named returns what names a file in a word: the word, or the value that is a part of its flag.
func named(word string) (names []string) {
	if word == "" || strings.ContainsAny(word, "\x00\n") {
		return nil
	}
	if !strings.HasPrefix(word, "-") {
		names = append(names, word)
	}
	if _, value, ok := strings.Cut(word, "="); ok && value != "" {
		names = append(names, value)
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		names = append(names, word[2:])
	}
	return names
}

// pathlike reports whether a word that is no file looks like the path of one.
func pathlike(name string) bool {
	name = path.Clean(name)
	return !strings.Contains(name, "...") && !strings.ContainsAny(name, "*?[ :{}") && (strings.Contains(name, "/") || strings.Contains(strings.Trim(name, "."), "."))
}

// expanded returns the files that a path with wildcards stands for.
func expanded(at string) []string {
	if !strings.ContainsAny(at, "*?[") {
		return []string{at}
	}
	found, err := filepath.Glob(at)
	if err != nil {
		return nil
	}
	return found
}

func (t Tree) absolute(dir, name string) string {
	name, dir = filepath.FromSlash(name), filepath.FromSlash(dir)
	switch {
	case filepath.IsAbs(name):
		return filepath.Clean(name)
	case filepath.IsAbs(dir):
		return filepath.Join(dir, name)
	}
	return filepath.Join(t.Dir, dir, name)
}

func distinct(all []string) (once []string) {
	for _, s := range all {
		if s != "" && !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}

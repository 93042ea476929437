package deciding

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/file"
	"codeloops/internal/loop"
)

// Instructions returns the files outside of a root in which agents look for instructions: in the directories
// above it, and in the user's home directory, "" if unknown. They need not exist.
func Instructions(root, home string) (files []loop.Decider) {
	add := func(parts ...string) {
		name := filepath.ToSlash(filepath.Join(parts...))
		files = append(files, loop.Decider{Path: name, Role: Agents})
	}
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"} {
			add(dir, name)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if home == "" {
		return files
	}
	for _, name := range []string{
		".claude/CLAUDE.md", ".codex/AGENTS.md", ".codex/AGENTS.override.md", ".gemini/GEMINI.md", ".qwen/QWEN.md", ".factory/AGENTS.md",
		".config/AGENTS.md", ".config/amp/AGENTS.md", ".config/opencode/AGENTS.md", ".copilot/copilot-instructions.md",
	} {
		add(home, name)
	}
	return files
}

// small is the size up to which files outside of the tree are read. Programs are much larger; their stamp,
// whose time of change nobody can set, tells them apart.
const small = 1 << 20

// outside returns a text that identifies the content of a file outside of the tree, "" if there is none.
func outside(name string) string {
	name = filepath.FromSlash(name)
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil || !st.Mode().IsRegular():
		return unreadable
	case st.Size() > small:
		s := file.StampOf(st)
		s.Dev = 0 // may differ after a restart of the machine
		return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, s)))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return unreadable
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

package draft

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Skill is a text that tells agents how to do something. A prompt names it; the agent reads it.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Path        string `json:"path"`  // as an agent finds it: from the work tree, or absolute
	Scope       string `json:"scope"` // whose it is
}

// The scopes of skills.
const (
	OfProject = "project"
	OfUser    = "user"
)

// A Place is a directory with a directory for each skill.
type Place struct {
	Root  string // nothing outside of it is read
	Dir   string // below the root, with slashes
	Scope string
}

// Places returns where skills are, in the order in which they count. root is that of the work tree, and config the user's
// configuration directory.
func Places(root, home, config string) (all []Place) {
	if root != "" {
		for _, dir := range []string{".codeloops/skills", ".agents/skills", ".claude/skills", ".cursor/skills", ".opencode/skills"} {
			all = append(all, Place{root, dir, OfProject})
		}
	}
	if config != "" {
		all = append(all, Place{filepath.Join(config, "skills"), ".", OfUser})
	}
	if home != "" {
		for _, dir := range []string{".agents/skills", ".claude/skills", ".codex/skills", ".cursor/skills", ".config/opencode/skills"} {
			all = append(all, Place{filepath.Join(home, filepath.FromSlash(dir)), ".", OfUser})
		}
	}
	return all
}

// maxSkill is the largest file of a skill, in bytes.
const maxSkill = 1 << 20

// Skills returns all skills by name. Of those with the same name, the first counts.
func (s Store) Skills() (all []Skill) {
	for _, p := range s.Places {
		for _, one := range p.skills() {
			if !slices.ContainsFunc(all, func(o Skill) bool { return o.Name == one.Name }) {
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// skills returns those of a place. Links out of a project are not followed; users link their own from elsewhere.
func (p Place) skills() (all []Skill) {
	files := os.DirFS(p.Root)
	if p.Scope == OfProject {
		root, err := os.OpenRoot(p.Root)
		if err != nil {
			return nil // there are none
		}
		defer root.Close() //nolint:errcheck // only read
		files = root.FS()
	}
	entries, _ := fs.ReadDir(files, p.Dir) // those that can be read
	for _, entry := range entries {
		name := path.Join(p.Dir, entry.Name(), "SKILL.md")
		if st, err := fs.Stat(files, name); err != nil || !st.Mode().IsRegular() || st.Size() > maxSkill {
			continue
		}
		text, err := fs.ReadFile(files, name)
		one := skillOf(entry.Name(), string(text))
		if one.Scope, one.Path = p.Scope, name; p.Scope == OfUser {
			one.Path = filepath.Join(p.Root, filepath.FromSlash(name))
		}
		if err == nil && isName(one.Name) {
			all = append(all, one)
		}
	}
	return all
}

// skillOf reads what a skill says of itself at the top of its file; its directory has its name otherwise.
func skillOf(dir, text string) Skill {
	var about struct{ Name, Description string }
	if text, ok := strings.CutPrefix(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r", ""), fence+"\n"); ok {
		head, _, _ := strings.Cut(text, "\n"+fence)
		_ = yaml.Unmarshal([]byte(head), &about) // otherwise it says nothing
	}
	if !isName(about.Name) {
		about.Name = dir
	}
	return Skill{Name: about.Name, Description: cut(wording.Line(about.Description))}
}

// maxDescription is how much of a description stands in a prompt, in characters.
const maxDescription = 400

func cut(text string) string {
	if r := []rune(text); len(r) > maxDescription {
		return string(r[:maxDescription]) + "…"
	}
	return text
}

// Equip adds to a text which skills are to be used.
func (s Store) Equip(text string, names []string) (string, error) {
	if len(names) == 0 {
		return text, nil
	}
	all := s.Skills()
	var known []string
	for _, one := range all {
		known = append(known, one.Name)
	}
	var b strings.Builder
	if text = strings.Trim(text, "\n"); text != "" {
		b.WriteString(text + "\n\n")
	}
	b.WriteString("Read each of these files before you do what it is about, and keep to it:\n")
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			what := "codeloops prompt skills lists what there is"
			if near, ok := wording.Nearest(name, known); ok {
				what = "did you mean " + near + "?"
			}
			return "", hint.Errorf(what, "there is no skill called %s", wording.Quote(name, 80))
		}
		fmt.Fprintf(&b, "- %s", wording.OSPath(all[i].Path))
		if all[i].Description != "" {
			b.WriteString(": " + all[i].Description)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

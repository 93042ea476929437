package worktree

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/session"
	"codeloops/internal/wording"
)

// A shared is what no diff shows of a repository, and all its work trees share: its stash and its settings.
type shared struct {
	common   string // the git directory that has it
	stash    []stashed
	inside   []string            // other work trees of the repository that lie in this one
	settings map[string][]string // by key; nil if they could not be read
}

// A stashed is an entry of the stash.
type stashed struct{ id, message string }

func sharedOf(t *Tree) (s shared) {
	if t.Fork != "" {
		return s // a copy, which is removed
	}
	r, settings := t.Repository()
	s.common, s.stash, s.inside = r.CommonDir, stashOf(r.CommonDir), insideOf(r.CommonDir, t.Root())
	s.settings = make(map[string][]string)
	for _, e := range settings.Entries() {
		if !diff.Overrides(e.Key) && lasting(e.Key) { // a change of the others is reported by itself
			s.settings[e.Key] = settings.All(e.Key)
		}
	}
	return s
}

// lasting reports whether a setting matters to the user's own later work. Git and its hosts' programs write the
// others all the time.
func lasting(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	switch section {
	case "branch", "remote", "submodule", "color", "column", "gc", "maintenance", "index", "extensions", "lfs", "filter":
		return false
	}
	switch key {
	case "core.filemode", "core.symlinks", "core.ignorecase", "core.autocrlf", "core.excludesfile", "core.attributesfile", "core.worktree",
		"core.repositoryformatversion", "core.logallrefupdates", "core.precomposeunicode":
		return false
	}
	return true
}

// stashOf returns the entries of a repository's stash, the oldest first.
func stashOf(commonDir string) (all []stashed) {
	text, _, _ := file.Read(filepath.Join(commonDir, "logs", "refs", "stash"), file.Options{}) // without it, git lists none
	for line := range strings.Lines(string(text)) {
		who, message, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if fields := strings.Fields(who); len(fields) > 1 {
			all = append(all, stashed{fields[1], message})
		}
	}
	return all
}

// insideOf returns the paths, from the root, of the repository's other work trees that lie in one.
func insideOf(commonDir, root string) (all []string) {
	links, _ := filepath.Glob(filepath.Join(commonDir, "worktrees", "*", "gitdir"))
	for _, link := range links {
		text, _, err := file.Read(link, file.Options{Max: maxFile})
		path := filepath.Dir(strings.TrimSpace(string(text)))
		if !filepath.IsAbs(path) { // worktree.useRelativePaths
			path = filepath.Join(filepath.Dir(link), path)
		}
		rel, relErr := filepath.Rel(root, Followed(path))
		if err == nil && relErr == nil && rel != "." && filepath.IsLocal(rel) {
			all = append(all, filepath.ToSlash(rel))
		}
	}
	return all
}

// since says what has changed. An entry of the stash that is gone is kept by a reference.
func (s shared) since(ctx context.Context, t *Tree) (sentences []string) {
	if t.Fork != "" {
		return nil
	}
	now := sharedOf(t)
	for _, e := range without(s.stash, now.stash) {
		ref := session.KeptStash + t.session + "/" + e.id[:min(len(e.id), 12)]
		what := fmt.Sprintf("the stash's entry %q is gone", e.message)
		if kept, _ := git.At(s.common).Refs(ref); kept[ref] != e.id {
			if _, err := t.git.In(ctx, t.Root(), "--git-dir="+s.common, "update-ref", "--", ref, e.id); err != nil {
				sentences = append(sentences, fmt.Sprintf("%s, and cannot be kept: %v", what, err))
				continue
			}
		}
		sentences = append(sentences, fmt.Sprintf("%s since the session began, and kept as %s: `git stash apply %[2]s` brings back what it has", what, ref))
	}
	for _, e := range without(now.stash, s.stash) {
		sentences = append(sentences, fmt.Sprintf("the stash has a new entry, which no diff shows: %q (git stash show -p)", e.message))
	}
	for _, dir := range now.inside {
		if _, err := os.Lstat(filepath.Join(t.Root(), filepath.FromSlash(dir))); err == nil && !slices.Contains(s.inside, dir) {
			sentences = append(sentences, fmt.Sprintf("%s is another work tree of this repository, a whole checkout with a branch of its own: "+
				"do not commit its files here (git worktree remove %s)", wording.Name(dir), wording.Shell(dir)))
		}
	}
	if s.settings == nil || now.settings == nil {
		return sentences
	}
	var changed []string
	for _, key := range slices.Sorted(maps.Keys(union(s.settings, now.settings))) {
		if values := now.settings[key]; !slices.Equal(values, s.settings[key]) {
			changed = append(changed, named(key))
		}
	}
	if len(changed) > 0 {
		const most = 10
		sentences = append(sentences, "git's settings have changed since the session began, for later work too: "+wording.List(slices.Compact(changed), most))
	}
	return sentences
}

// named is a setting without its subsection, which can be an address with a password. Values can be secrets, too.
func named(key string) string {
	section, rest, _ := strings.Cut(key, ".")
	return wording.Name(section + "." + rest[strings.LastIndexByte(rest, '.')+1:])
}

func union(a, b map[string][]string) map[string][]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// without returns the entries of the stash that others do not have.
func without(all, others []stashed) []stashed {
	return slices.DeleteFunc(slices.Clone(all), func(e stashed) bool {
		return slices.ContainsFunc(others, func(o stashed) bool { return o.id == e.id })
	})
}

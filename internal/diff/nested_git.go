package diff

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/repo"
	"codeloops/internal/repo/file"
	"codeloops/internal/wording"
)

// What a .git below the root of the work tree can be. Git never shows what is in
// one, and a diff that did could not be applied.
const (
	isNest       = "the repository of a nest"
	isRepository = "a repository"
)

// A gitDir is what a scan found when it opened the repository of a directory.
type gitDir struct {
	repo *repo.Repository
	err  error
}

// setUp adds to a setup what stands for each .git of the last scan, and for the
// ignore rules in those of nests. It returns the names of files in those that are no
// repositories, by their paths.
func (n *nests) setUp(s setup) (names map[string][]string) {
	names = make(map[string][]string)
	for path, g := range n.gits {
		git := path + "/.git"
		if _, err := os.Lstat(n.at.absolute(git)); file.Missing(err) {
			continue
		}
		nest, is := n.rules[path] != nil, g.repo != nil || errors.As(g.err, new(*repo.UnsupportedError))
		switch {
		case is && nest:
			s[git] = checkpoint.Digest(isNest)
		case is:
			s[git] = checkpoint.Digest(isRepository)
		case !errors.Is(g.err, repo.ErrNotRepository):
			s[git] = checkpoint.Digest(g.err.Error())
		default:
			if digest, list := n.at.contentsOf(git); digest != "" {
				s[git], names[git] = digest, list
			}
		}
		if g.repo != nil && nest && n.begins(path) {
			s.addFile(n.at.nameOf(g.repo.InfoExclude()), g.repo.InfoExclude())
		}
	}
	return names
}

// absolute returns the path that the operating system knows.
func (p *place) absolute(path string) string {
	return filepath.Join(p.Root(), filepath.FromSlash(path))
}

// contentsOf returns what stands for all that is in a directory, or for a file, and
// the first names in it; "" for a directory with no file in it.
func (p *place) contentsOf(path string) (digest string, names []string) {
	const most = 10_000 // files: whoever works there can make any number
	var all strings.Builder
	count := 0
	_ = filepath.WalkDir(p.absolute(path), func(name string, d fs.DirEntry, err error) error {
		fmt.Fprintf(&all, "%q %v\n", name, err)
		if d == nil || d.IsDir() {
			return nil
		}
		if count++; count > most {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(&all, "%v %v\n", info.Mode(), file.StampOf(info))
		}
		if rel, err := filepath.Rel(p.absolute(path), name); err == nil && rel != "." {
			names = append(names, wording.Name(filepath.ToSlash(rel)))
		}
		return nil
	})
	if count == 0 {
		return "", nil
	}
	return checkpoint.Digest(all.String()), names
}

// fakes returns a sentence for each .git that is no repository, and is not what it was
// when the session began.
func (s setup) fakes(then setup, names map[string][]string) (sentences []string) {
	for _, path := range slices.Sorted(maps.Keys(names)) {
		if s[path] == then[path] {
			continue
		}
		text := wording.Name(path) + " is no repository, and no diff shows what it holds"
		if list := names[path]; len(list) > 0 {
			text += ": " + wording.List(list, 10)
		}
		sentences = append(sentences, text)
	}
	return sentences
}

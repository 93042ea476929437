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
	"codeloops/internal/file"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

// What a .git below the root of the work tree can be. Git never shows what is in one, and a
// diff that did could not be applied.
const (
	isNest       = "the repository of a nest"
	isRepository = "a repository"
)

// A gitDir is the result of opening the repository of a directory.
type gitDir struct {
	repo *repo.Repository
	err  error
}

// setUp adds a digest of each .git of the last scan to a setup, and of the ignore rules in those
// of nests. It returns the names of the files in each .git that is not a repository, by its path.
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
			if digest, list := contentsOf(n.at.absolute(git)); digest != "" {
				s[git], names[git] = digest, list
			}
		}
		if g.repo != nil && nest && n.atStart(path) {
			s.addFile(n.at.nameOf(g.repo.InfoExclude()), g.repo.InfoExclude())
		}
	}
	return names
}

// absolute returns the absolute path of a slash-separated one.
func (p *place) absolute(path string) string {
	return filepath.Join(p.Root(), filepath.FromSlash(path))
}

// contentsOf returns a digest of everything at a path, a directory or a file, and the first names in
// it. The digest is "" if there is no file.
func contentsOf(path string) (digest string, names []string) {
	const most = 10_000 // files: an agent can make any number
	var all strings.Builder
	count := 0
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
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
		if rel, err := filepath.Rel(path, name); err == nil && rel != "." {
			names = append(names, wording.Name(filepath.ToSlash(rel)))
		}
		return nil
	})
	if count == 0 {
		return "", nil
	}
	return checkpoint.Digest(all.String()), names
}

// fakes returns a sentence for each .git that is not a repository and has changed since the
// session began.
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

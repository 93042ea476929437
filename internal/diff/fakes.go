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

	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/wording"
)

// A fake is a .git below the root that is no repository. Git passes over it, so that no diff shows what it holds.
type fake struct {
	sum   string   // of all that is in it
	names []string // the first ones
}

// fakes returns each one that is not in an ignored directory and holds something, by its path.
func (l *watch) fakes() map[string]fake {
	all := map[string]fake{}
	l.fakesIn("", all)
	return all
}

// fakesIn finds those in a directory, given as "" or with a slash at the end.
func (l *watch) fakesIn(dir string, all map[string]fake) {
	f, err := os.Open(l.absolute(dir))
	if err != nil {
		return // what cannot be read is told elsewhere
	}
	entries, _ := f.ReadDir(-1) // likewise
	_ = f.Close()               // only read
	for _, d := range entries {
		switch name := dir + d.Name(); {
		case name == ".git":
		case d.Name() == ".git":
			l.meet(strings.TrimSuffix(dir, "/"), name, all)
		case d.IsDir() && !l.isIgnored(name):
			l.fakesIn(name+"/", all)
		}
	}
}

// meet adds a .git, given the directory that it is in, if it is no repository.
func (l *watch) meet(dir, name string, all map[string]fake) {
	if slices.Contains(l.sight.entered, dir) {
		return
	}
	at := l.absolute(name)
	n, known := l.sight.nests[dir]
	if !known {
		n = openNest(l.environment(at, l.absolute(dir)), l.absolute(dir))
	}
	if f := contentsOf(at); n.repo == nil && errors.Is(n.err, git.ErrNotRepository) && f.sum != "" {
		all[name] = f
	}
}

func (l *watch) isIgnored(dir string) bool {
	_, is := slices.BinarySearch(l.sight.ignored, dir+"/")
	return is && l.sight.nests[dir] == nil
}

// contentsOf returns what a directory, or a file, holds. The sum is "" if there is no file.
func contentsOf(at string) (f fake) {
	const most = 10_000 // files: an agent can make any number
	var all strings.Builder
	count := 0
	_ = filepath.WalkDir(at, func(name string, d fs.DirEntry, err error) error {
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
		if rel, err := filepath.Rel(at, name); err == nil && rel != "." {
			f.names = append(f.names, wording.Name(filepath.ToSlash(rel)))
		}
		return nil
	})
	if count > 0 {
		f.sum = digest(all.String())
	}
	return f
}

// aboutFakes says of each fake that has changed since the session began what it holds.
func (c *capture) aboutFakes() (sentences []string) {
	for _, at := range slices.Sorted(maps.Keys(c.sight.fakes)) {
		f := c.sight.fakes[at]
		if f.sum == c.began.Setup[at] {
			continue
		}
		text := wording.Name(at) + " is no repository, and no diff shows what it holds"
		if len(f.names) > 0 {
			text += ": " + wording.List(f.names, 10)
		}
		sentences = append(sentences, text)
	}
	return sentences
}

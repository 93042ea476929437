package ignore

import (
	"cmp"
	"crypto/sha256"
	"os"
	"slices"

	"codeloops/internal/diff/repo/file"
)

// maxFile is the size in bytes from which a file of rules is passed over. Git
// draws a line too, though a higher one.
const maxFile = 16 << 20

// A Source is a file that was looked at for rules.
type Source struct {
	Path  string // absolute
	Stamp file.Stamp
	Err   error // why an existing file was passed over, as git warns; else nil
}

// A reading is a source as it was read.
type reading struct {
	Source
	follow bool   // symbolic links
	sum    string // of the content, where the stamp alone does not tell; else ""
}

// Sources returns the files that were looked at so far, ordered by path. A
// missing one has a zero Stamp.
func (r *Rules) Sources() []Source {
	var sources []Source
	for _, s := range r.readings() {
		sources = append(sources, s.Source)
	}
	slices.SortFunc(sources, func(a, b Source) int { return cmp.Compare(a.Path, b.Path) })
	return sources
}

// Changed reports whether any source is not as it was read, so that the rules
// must be made anew. A .gitignore file that has appeared in a directory entered
// without one is not noticed, nor is a change of the index.
func (r *Rules) Changed() bool {
	r.mu.Lock()
	moved := r.moved
	r.mu.Unlock()
	return moved || slices.ContainsFunc(r.readings(), reading.changed)
}

func (r *Rules) readings() []reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]reading, 0, len(r.sources))
	for _, s := range r.sources {
		all = append(all, s)
	}
	return all
}

// read returns the content of a file of rules and makes it a source.
func (r *Rules) read(path string, follow bool) (text string, ok bool) {
	data, stamp, err := file.Read(path, file.How{NoFollow: !follow, Max: maxFile})
	s := reading{Source: Source{Path: path, Stamp: stamp}, follow: follow}
	if err != nil {
		s.Stamp = s.look()
	}
	if err != nil && !file.Missing(err) {
		s.Err = err
	}
	if err == nil && (r.o.Now == nil || !stamp.Before(r.o.Now().Add(-file.Slack))) {
		s.sum = sum(data)
	}
	r.mu.Lock()
	if before, read := r.sources[path]; read && (before.Stamp != s.Stamp || before.sum != "" && before.sum != sum(data)) {
		r.moved = true
	}
	r.sources[path] = s
	r.mu.Unlock()
	return string(data), err == nil
}

// changed reports whether the file is not as it was read.
func (s reading) changed() bool {
	if s.look() != s.Stamp {
		return true
	}
	if s.sum == "" {
		return false
	}
	data, _, err := file.Read(s.Path, file.How{NoFollow: !s.follow, Max: maxFile})
	return err != nil || sum(data) != s.sum
}

// look returns the stamp that the file has now.
func (s reading) look() file.Stamp {
	stat := os.Lstat
	if s.follow {
		stat = os.Stat
	}
	fi, err := stat(s.Path)
	if err != nil {
		return file.Stamp{}
	}
	return file.StampOf(fi)
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return string(h[:])
}

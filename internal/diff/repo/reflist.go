package repo

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/diff/repo/file"
)

// A RefList lists references again and again: of packed ones the file is read once,
// as long as it stays what it was. It is used by one goroutine at a time.
type RefList struct {
	store    refStore
	prefixes []string
	read     time.Time
	stamp    file.Stamp
	packed   map[string]string
}

// RefList returns one, which has read nothing yet, of those references whose names
// begin with one of the prefixes.
func (r *Repository) RefList(prefixes ...string) *RefList {
	return &RefList{store: refStore{gitDir: r.GitDir, commonDir: r.CommonDir}, prefixes: prefixes}
}

// Below returns the references below one of the prefixes, each with the commit or
// object that it names, or the name of another one. What cannot be read stands in it
// by the reason. Now is the time on the clock of the file system.
func (l *RefList) Below(prefix string, now time.Time) map[string]string {
	refs := make(map[string]string)
	packed, err := l.packedRefs(now)
	if err != nil {
		refs[prefix] = err.Error()
	}
	for name, id := range packed {
		if strings.HasPrefix(name, prefix) {
			refs[name] = id
		}
	}
	maps.Copy(refs, l.loose(prefix))
	return refs
}

// loose reads those that have files of their own.
func (l *RefList) loose(prefix string) map[string]string {
	refs := make(map[string]string)
	root := l.store.dirOf(prefix)
	_ = filepath.WalkDir(filepath.Join(root, filepath.FromSlash(prefix)), func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, path)
		name := filepath.ToSlash(rel)
		switch {
		case file.Missing(err), relErr != nil:
			return nil //nolint:nilerr // there is none, or it has just gone
		case err != nil:
			refs[name] = err.Error()
			return nil //nolint:nilerr // that stands in the list
		case d.IsDir(), strings.HasSuffix(name, ".lock"):
			return nil
		}
		v, err := l.store.loose(name)
		if err != nil {
			refs[name] = err.Error()
		} else if v != (ref{}) {
			refs[name] = v.commit + v.target
		}
		return nil
	})
	return refs
}

// packedRefs are all of packed-refs.
func (l *RefList) packedRefs(now time.Time) (map[string]string, error) {
	path := filepath.Join(l.store.commonDir, "packed-refs")
	if info, err := os.Stat(path); err == nil && l.packed != nil && l.stamp == file.StampOf(info) && l.stamp.Settled(l.read) {
		return l.packed, nil
	}
	data, stamp, err := file.Read(path, file.How{Max: maxPacked})
	if file.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.packed, l.stamp, l.read = make(map[string]string), stamp, now
	for line := range bytes.Lines(data) {
		id, name, found := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" "))
		wanted := func(prefix string) bool { return bytes.HasPrefix(name, []byte(prefix)) }
		if found && len(id) == idLen && leadingHex(string(id)) == idLen && slices.ContainsFunc(l.prefixes, wanted) {
			l.packed[string(name)] = string(id)
		}
	}
	return l.packed, nil
}

package diff

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/scan"
)

// The prefixes of the names of start.ignoredThen, and of overrides, in a checkpoint.
const (
	ignoredMark  = "ignored: " // also of files that could not be read; see unreadMark
	overrideMark = "git: "
)

// unreadMark is before the paths in start.ignoredThen that could not be read.
const unreadMark = "unread: "

// startOf returns the start of the session that a checkpoint began. That has only digests of the
// rules outside the work tree: if they have changed since, they do not count.
func (w *watcher) startOf(kept checkpoint.Kept) (s start, err error) {
	r := w.opened
	o, err := originOf(r)
	if err != nil {
		return s, err
	}
	now, then := w.setupOf(r), setup(kept.Setup)
	s.overridesThen, s.ignoredThen = takeMarked(then, overrideMark), takeMarked(then, ignoredMark)
	if then == nil { // the checkpoint does not say how git was set up
		then = now
	}
	if !kept.At.IsZero() {
		s.beganBy = kept.At.Add(-w.clock.Slack) // a file written then may have an earlier time
	}
	s.outsideThen = ignore.New(o).Options().Outside
	for i, name := range []string{o.ExcludesFile, o.InfoExclude} {
		if key := w.nameOf(name); now[key] != then[key] {
			s.outsideThen[i] = ""
		}
	}
	s.setupThen, s.ignoreCaseThen = then, o.IgnoreCase && now["core.ignorecase"] == then["core.ignorecase"]
	return s, nil
}

// keepMarked adds digests to what a checkpoint keeps, with a prefix before their names. The
// prefix alone means that they are known.
func keepMarked(kept, digests map[string]string, mark string) {
	kept[mark] = ""
	for name, digest := range digests {
		kept[mark+name] = digest
	}
}

// takeMarked takes them out of what a checkpoint has kept. It returns nil if they are not
// known.
func takeMarked(kept map[string]string, mark string) (digests map[string]string) {
	if _, known := kept[mark]; !known {
		return nil
	}
	digests = make(map[string]string)
	for name, digest := range kept {
		if rest, marked := strings.CutPrefix(name, mark); marked {
			digests[rest] = digest
			delete(kept, name)
		}
	}
	delete(digests, "")
	return digests
}

// ignoredOf returns digests of files that no diff shows by path: the rules of directories that
// ignore themselves, the ignored settings of agents, and what cannot be read.
func (w *watcher) ignoredOf() setup {
	all := make(setup)
	for _, name := range w.state.Unread {
		all[unreadMark+name] = "unread"
	}
	for _, dir := range w.state.SelfIgnored {
		all[dir] = checkpoint.Digest(digestOf(w.absolute(dir + ".gitignore")))
	}
	for _, below := range w.agentsLookIn() {
		for _, name := range w.options.Settings {
			w.addSettings(all, w.state.Root, below+name)
		}
	}
	return all
}

// agentsLookIn returns the directories in which agents look for their settings: the one that
// they work in, and those above it. Each is "" or ends in a slash.
func (p *place) agentsLookIn() []string {
	dir := p.dir
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	below, err := filepath.Rel(p.Root(), dir)
	if err != nil || !filepath.IsLocal(below) {
		return []string{""}
	}
	all := []string{""}
	for at := filepath.ToSlash(below); at != "."; at = path.Dir(at) {
		all = append(all, at+"/")
	}
	return all
}

// addSettings adds a file, or the files in a directory, unless they are in the state.
func (p *place) addSettings(all setup, state *scan.Dir, name string) {
	const most, deep = 200, 3 // files, levels of directories
	left, root := most, p.absolute(name)
	if _, err := os.Stat(root); err != nil {
		return
	}
	_ = filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		below, _ := filepath.Rel(root, at)
		if left--; err != nil || left < 0 {
			return filepath.SkipAll
		}
		switch file := path.Join(name, filepath.ToSlash(below)); {
		case !e.IsDir():
			if state.Find(file) == nil {
				all[file] = checkpoint.Digest(digestOf(p.absolute(file)))
			}
		case e.Name() == "node_modules", strings.Count(below, string(filepath.Separator)) >= deep:
			return filepath.SkipDir
		}
		return nil
	})
}

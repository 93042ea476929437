package diff

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/wording"
)

// A basis is what looks begin with. The areas are the work tree ("") and the nests, by their paths.
//
// A nest is a directory with a look of its own: a repository that existed when the session began, or the directory of
// a gitlink, whose repository may be missing. A repository that is made later is treated like any other directory, so
// that nothing can be hidden in it. The files of a nest are taken as they are on the disk. Only the names in its index
// count, and nothing is written into its git directory.
type basis struct {
	state *state
	areas map[string]area
	nests []string // those that the session began with; nil before that
	then  map[string]trackedEntry
	last  *state // what was seen last; it stands in for what cannot be read
}

type area struct {
	index string        // a file
	tree  plumbing.Hash // of the index
	names map[string]bool
}

// A sight is the result of a look at a work tree with its nests. Paths are from the root; directories end in a slash.
type sight struct {
	state       *state
	areas       map[string]area // without names
	ignored     []string
	selfIgnored []string
	unread      []string
	warnings    []string
	nests       map[string]*nest // by path
	entered     []string         // repositories that are treated as directories
	fakes       map[string]fake  // by path
	cut         []string         // what a sparse checkout leaves out, and did not when the session began
}

// A nest is one that a look has found. Its repository is nil if there is none that can be read.
type nest struct {
	repo *git.Repository
	err  error
	head string
}

// A watch is one look at everything.
type watch struct {
	*watcher
	basis *basis
	also  *state // whose files are in scope, too
	sight *sight
	links map[string]string
	large map[string]entry
	edits map[string]*object.TreeEntry // to the tree of the work tree
	tree  plumbing.Hash
	lost  []string // what cannot be read
}

// snapshot looks at the work tree.
func (w *watcher) snapshot(ctx context.Context, b *basis, also *state) (*sight, error) {
	l := &watch{
		watcher: w, basis: b, also: also, sight: &sight{areas: map[string]area{}, nests: map[string]*nest{}},
		links: map[string]string{}, large: map[string]entry{}, edits: map[string]*object.TreeEntry{},
	}
	if _, err := os.Stat(w.Root()); err != nil {
		return nil, fmt.Errorf("read work tree %s: %w", w.Root(), err)
	}
	if err := l.area(ctx, "", &w.tracked); err != nil {
		return nil, err
	}
	l.stale()
	tree, err := w.objects.edited(l.tree, l.edits)
	if err != nil {
		return nil, err
	}
	var beside beside
	if len(l.links) > 0 {
		beside.Links = byName[string]{}
		maps.Copy(beside.Links, l.links)
	}
	if len(l.large) > 0 {
		beside.Large = byName[entry]{}
		maps.Copy(beside.Large, l.large)
	}
	if l.sight.state, err = w.objects.named(tree, beside); err != nil {
		return nil, err
	}
	slices.Sort(l.sight.ignored)
	slices.Sort(l.sight.selfIgnored)
	slices.Sort(l.sight.unread)
	slices.Sort(l.sight.warnings)
	l.sight.fakes = l.fakes()
	return l.sight, nil
}

// area looks at one area with the nests in it, given its index.
func (l *watch) area(ctx context.Context, at string, index *tracked) error {
	prefix := ""
	if at != "" {
		prefix = at + "/"
	}
	e := &eye{
		view:  view{shadow: l.shadow, root: l.absolute(at), index: l.basis.areas[at].index},
		first: l.basis.nests == nil, apart: map[string]bool{}, fs: l.files, files: l.objects, base: cmp.Or(l.basis.areas[at].tree, emptyTree()), tracked: index,
		large: l.largeFiles, also: map[string]entry{}, modes: map[string]uint32{},
	}
	if e.index == "" {
		e.index = l.shadow.file("none")
	}
	rules, err := l.rulesFor(at)
	if err != nil {
		return err
	}
	e.flags = append(e.fs.flags(), "-c", "core.excludesFile="+rules)
	for _, name := range l.nestsIn(at, index) {
		e.apart[name] = true
	}
	l.scope(ctx, at, prefix, index, e)
	if at == "" && l.basis.nests != nil {
		e.cut = l.cut(index)
	}
	if err := e.look(ctx); err != nil {
		return err
	}
	l.take(at, prefix, e)
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(e.apart)), e.inside) {
		if err := l.nest(ctx, prefix+name, name, index); err != nil {
			return err
		}
	}
	return nil
}

// take takes what an eye has found in an area.
func (l *watch) take(at, prefix string, e *eye) {
	for name := range e.found.large {
		l.large[prefix+name] = e.found.large[name]
	}
	l.sight.areas[at] = area{index: e.index, tree: e.tree}
	for name := range e.places {
		l.sight.entered = append(l.sight.entered, prefix+path.Dir(name))
	}
	for _, name := range e.ignored {
		l.sight.ignored = append(l.sight.ignored, prefix+name)
	}
	for _, name := range e.selfIgnored {
		l.sight.selfIgnored = append(l.sight.selfIgnored, prefix+name)
	}
	for name, err := range e.unread {
		l.unreadable(prefix+name, err)
	}
	if at == "" {
		l.tree = e.tree
	} else if e.tree != emptyTree() {
		l.edits[at] = &object.TreeEntry{Mode: filemode.Dir, Hash: e.tree}
	}
}

// unreadable notes what cannot be read, so that what was last known of it stands in for it.
func (l *watch) unreadable(name string, err error) {
	l.lost = append(l.lost, name)
	l.tell(name, err)
}

func (l *watch) tell(name string, err error) {
	l.sight.unread = append(l.sight.unread, name)
	plain := strings.TrimSuffix(name, "/")
	l.sight.warnings = append(l.sight.warnings, wording.NameIn(fmt.Sprintf("cannot read %s: %v; changes there are not seen", plain, err), plain))
}

// nestsIn returns the paths of the nests of an area, from there.
func (l *watch) nestsIn(at string, index *tracked) (names []string) {
	for _, nest := range l.basis.nests {
		in := ""
		for _, other := range l.basis.nests {
			if strings.HasPrefix(nest, other+"/") && len(other) > len(in) {
				in = other
			}
		}
		if in == at {
			names = append(names, strings.TrimPrefix(strings.TrimPrefix(nest, at), "/"))
		}
	}
	for _, link := range index.links() {
		if !slices.Contains(names, link) && !l.basis.areas[at].holds(link) {
			names = append(names, link)
		}
	}
	return names
}

// holds reports whether something is known below a path.
func (a area) holds(dir string) bool {
	for name := range a.names {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// scope tells an eye what is in scope besides what its index begins with.
func (l *watch) scope(ctx context.Context, at, prefix string, index *tracked, e *eye) {
	known := l.basis.areas[at].names
	staged := at == "" && l.basis.nests != nil && !(e.fs.FileMode && e.fs.Symlinks) // modes that the disk does not have
	for name, is := range index.entries {
		switch then, was := l.basis.then[name]; {
		case is.Mode == Gitlink:
		case !known[name]:
			e.also[name] = is.entry
		case staged && (!was || then.Mode != is.Mode):
			if base, err := l.objects.entry(l.basis.state, name); err == nil && base != nil && base.Mode != is.Mode {
				e.also[name], e.modes[name] = *base, is.Mode
			}
		}
	}
	l.scopeAlso(ctx, prefix, known, e)
}

// scopeAlso is scope for the files of another state.
func (l *watch) scopeAlso(ctx context.Context, prefix string, known map[string]bool, e *eye) {
	if l.also == nil || l.basis.state == nil {
		return
	}
	differ, _ := l.objects.compare(ctx, l.basis.state, l.also) // what cannot be read is missed later
	for _, d := range differ {
		name, in := strings.CutPrefix(d.path, prefix)
		if in && d.after != nil && d.after.Mode != Gitlink && !known[name] && !e.isApart(name) {
			e.also[name] = *d.after
		}
	}
}

// cut returns which files of the basis a sparse checkout leaves out, and which it does no more. They are as they were
// when the session began, unless another content was committed.
func (l *watch) cut(index *tracked) map[string]bool {
	all := map[string]bool{}
	for name, is := range index.entries {
		if !is.isCut() || !l.basis.areas[""].names[name] || !missing(l.absolute(name)) {
			continue
		}
		if base, err := l.objects.entry(l.basis.state, name); err == nil && alike(base, &is.entry) {
			all[name] = true
		}
		if then := l.basis.then[name]; all[name] && !then.isCut() && l.tracked.skipped.digest != l.began.Overrides[skipped] {
			l.sight.cut = append(l.sight.cut, name)
		}
	}
	for name, then := range l.basis.then {
		if then.isCut() && !all[name] {
			all[name] = false
		}
	}
	return all
}

// nest looks at a nest, given its path also from the area that it is in.
func (l *watch) nest(ctx context.Context, at, name string, index *tracked) error {
	dir := l.absolute(at)
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		return nil //nolint:nilerr // it is gone
	}
	n := openNest(l.environment(filepath.Join(dir, ".git"), dir), dir)
	l.sight.nests[at] = n
	if n.err != nil && !errors.Is(n.err, git.ErrNotRepository) && !errors.As(n.err, new(*git.UnsupportedError)) {
		l.tell(at+"/", reason(n.err)) // its files can be read all the same
	}
	commit := l.commitOf(at, name, index, n)
	own := &tracked{}
	if n.repo != nil && (l.basis.nests == nil || slices.Contains(l.basis.nests, at)) {
		if err := own.read(ctx, l.shadow, n.repo, l.options.Environ); err != nil {
			l.sight.warnings = append(l.sight.warnings, wording.NameIn(fmt.Sprintf(
				"cannot read the index of the repository %s: %v; files that it ignores and tracks are not seen", at, err), at))
		}
	}
	if _, err := os.ReadDir(dir); errors.Is(err, fs.ErrPermission) {
		l.unreadable(at+"/", reason(err))
	} else if err := l.area(ctx, at, own); err != nil {
		return err
	}
	if commit == "" {
		return nil
	}
	if l.edits[at] == nil {
		l.edits[at] = &object.TreeEntry{Mode: filemode.Submodule, Hash: plumbing.NewHash(commit)}
	} else {
		l.links[at] = commit
	}
	return nil
}

// openNest opens the repository of a directory of the work tree. As in git, only its layout makes it a repository.
func openNest(environ []string, dir string) *nest {
	r, err := git.Open(dir, environ)
	n := &nest{repo: r, err: err}
	if err == nil {
		var head git.Head
		if head, n.err = r.Head(); n.err == nil {
			n.head = head.Commit
		}
	}
	return n
}

// commitOf returns the commit that a nest is at, or else the known one, as for a submodule that is not checked out.
func (l *watch) commitOf(at, name string, index *tracked, n *nest) string {
	if n.head != "" {
		return n.head
	}
	if (area{names: index.names()}).holds(name) { // its files are tracked here
		return ""
	}
	if l.basis.state != nil {
		if was, err := l.objects.entry(l.basis.state, at); err == nil && was != nil && was.Mode == Gitlink {
			return was.ID.String()
		}
	}
	if is, linked := index.entries[name]; linked && is.Mode == Gitlink {
		return is.ID.String()
	}
	return ""
}

func (t *tracked) names() map[string]bool {
	all := make(map[string]bool, len(t.entries))
	for name, e := range t.entries {
		if e.Mode != Gitlink {
			all[name] = true
		}
	}
	return all
}

// stale puts what was last known in the place of what cannot be read.
func (l *watch) stale() {
	if l.basis.last == nil {
		return
	}
	for _, name := range l.lost {
		name = strings.TrimSuffix(name, "/")
		if e, err := l.objects.at(l.basis.last.tree, name); err == nil {
			l.edits[name] = e
		}
		for link, commit := range l.basis.last.Links {
			if link == name || strings.HasPrefix(link, name+"/") {
				l.links[link] = commit
			}
		}
	}
}

// rulesFor writes the ignore rules from outside the work tree that count in an area into a file. They are in the order
// in which git reads them.
func (l *watch) rulesFor(at string) (name string, err error) {
	from := []string{l.excludes, l.opened.InfoExclude()}
	if at != "" {
		from = from[:1]
		if n := l.sight.nests[at]; n.repo != nil && (l.basis.nests == nil || slices.Contains(l.basis.nests, at) && l.sameExclude(n.repo)) {
			from = append(from, n.repo.InfoExclude())
		}
	}
	var text bytes.Buffer
	for _, name := range from {
		content, _, err := file.Read(name, file.Options{})
		if err != nil && !file.Missing(err) && name != "" && at == "" {
			l.sight.warnings = append(l.sight.warnings, wording.NameIn(fmt.Sprintf("cannot read ignore rules: %v", err), name))
		}
		text.Write(bytes.TrimPrefix(content, []byte("\ufeff")))
		text.WriteByte('\n')
	}
	name = l.shadow.file("rules")
	return name, os.WriteFile(name, text.Bytes(), 0o600)
}

// sameExclude reports whether the own rules of a nest are those that it began with: no changed ones may hide files.
func (w *watcher) sameExclude(r *git.Repository) bool {
	return digestOf(r.InfoExclude()) == w.began.Setup[w.nameOf(r.InfoExclude())]
}

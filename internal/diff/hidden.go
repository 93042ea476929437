package diff

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"codeloops/internal/diff/patch"
	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// Limits of the report on files that became hidden.
const (
	maxHidden      = 500      // files named one by one
	maxHiddenIn    = 20       // of those, in a directory that is hidden as a whole
	maxHiddenText  = 64 << 10 // bytes shown of one file
	maxHiddenTexts = 1 << 20  // bytes shown of all of them
	maxCounted     = 10_000   // entries below a directory that are counted
)

// rules are the ignore rules of some time: those in a state, and those from outside the work tree.
type rules struct {
	state      *state
	outside    string
	ignoreCase bool
	also       []string // directories whose rules on the disk count, too
}

// ignores returns which of some paths of files git would ignore by rules. Directories end in a slash.
func (w *watcher) ignores(ctx context.Context, r rules, paths []string) (map[string]bool, error) {
	all := map[string]bool{}
	areas := map[string][]string{}
	for _, name := range paths {
		at := w.areaOf(name)
		areas[at] = append(areas[at], strings.TrimPrefix(strings.TrimPrefix(name, at), "/"))
	}
	for at, names := range areas {
		found, err := w.ignoresIn(ctx, r, at, names)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			all[strings.TrimPrefix(at+"/"+name, "/")] = true
		}
	}
	return all, nil
}

// areaOf returns the innermost nest around a path, "" if there is none.
func (w *watcher) areaOf(name string) (at string) {
	for i := range name {
		if name[i] == '/' && w.sight != nil && w.sight.nests[name[:i]] != nil && i < len(name)-1 {
			at = name[:i]
		}
	}
	return at
}

// ignoresIn is ignores for an area. It asks git in a work tree that has nothing but the rules.
func (w *watcher) ignoresIn(ctx context.Context, r rules, at string, names []string) ([]string, error) {
	dir := w.shadow.file("rules-then")
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	if err := w.placeRules(ctx, r, at, dir); err != nil {
		return nil, err
	}
	var asked []string
	for _, name := range names {
		plain, isDir := strings.CutSuffix(name, "/")
		asked = append(asked, plain)
		if isDir {
			_ = os.MkdirAll(filepath.Join(dir, filepath.FromSlash(plain)), 0o700) // else it counts as a file
		}
	}
	files := w.files
	files.IgnoreCase = r.ignoreCase
	v := &view{shadow: w.shadow, root: dir, index: w.shadow.file("none")}
	v.flags = append(files.flags(), "-c", "core.excludesFile="+filepath.Join(dir, ".git", "rules"))
	out, err := v.run(ctx, nil, zs(asked), "check-ignore", "-z", "--stdin", "--no-index")
	if exit, ok := errors.AsType[*proc.ExitError](err); ok && exit.ExitCode == 1 {
		err = nil // it ignores none
	}
	ignored := map[string]bool{}
	for _, name := range fields(out) {
		ignored[name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !ignored[strings.TrimSuffix(name, "/")] }), err
}

// placeRules writes the rules of an area into a directory: those in files that git reads there, and the others in
// .git/rules.
func (w *watcher) placeRules(ctx context.Context, r rules, at, dir string) error {
	var errs []error
	place := func(name string, content []byte) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		errs = append(errs, os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, content, 0o600))
	}
	outside := r.outside
	if at != "" {
		content, _, _ := file.Read(w.excludes, file.Options{}) // what cannot be read has no rules
		outside = string(content) + "\n"
		if n := w.sight.nests[at].repo; n != nil && w.sameExclude(n) {
			content, _, _ := file.Read(n.InfoExclude(), file.Options{})
			outside += string(content)
		}
	}
	place(".git/rules", []byte(outside))
	tree := r.state.tree
	if at != "" {
		tree = emptyTree()
		if e, err := w.objects.at(r.state.tree, at); err == nil && e != nil && e.Mode == filemode.Dir {
			tree = e.Hash
		}
	}
	if tree != emptyTree() {
		files, err := w.objects.list(ctx, tree)
		errs = append(errs, err)
		for _, f := range files {
			if path.Base(f.name) == ".gitignore" && f.isFile() {
				content, err := w.objects.blob(f.ID)
				errs = append(errs, err)
				place(f.name, content)
			}
		}
	}
	for _, own := range r.also {
		content, _, _ := file.Read(w.absolute(own+".gitignore"), file.Options{})
		place(strings.TrimPrefix(strings.TrimPrefix(own, at), "/")+".gitignore", content)
	}
	return errors.Join(errs...)
}

// rulesThen are the ignore rules at the start of the session.
func (w *watcher) rulesThen() rules {
	r := rules{state: w.basis.state, outside: w.began.Rules, ignoreCase: w.began.IgnoreCase}
	for dir := range w.began.Ignored {
		if w.hiddenThen(dir) {
			r.also = append(r.also, dir)
		}
	}
	return r
}

// hiddenThen reports whether a directory ignored itself when the session began, by the rules that
// it still has.
func (w *watcher) hiddenThen(dir string) bool {
	was, known := w.began.Ignored[dir]
	return known && strings.HasSuffix(dir, "/") && was == digest(digestOf(w.absolute(dir+".gitignore")))
}

// hidden returns the files that git ignores by rules added since the session began. It looks
// only if rules have changed.
func (c *capture) hidden(ctx context.Context) (all []loop.Unshown, err error) {
	if !c.rulesChanged() {
		return nil, nil
	}
	root, err := os.OpenRoot(c.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	all, err = c.hiddenNow(ctx, root)
	if err != nil {
		return nil, err
	}
	texts := 0 // bytes
	for i := range all {
		if u := &all[i]; texts < maxHiddenTexts && u.Files == 0 && u.Why == loop.Hidden && !secret(u.Path) {
			u.Text = added(root, u.Path)
			texts += len(u.Text)
		}
	}
	return all, ctx.Err()
}

// hiddenNow is hidden without texts.
func (c *capture) hiddenNow(ctx context.Context, root *os.Root) (all []loop.Unshown, err error) {
	candidates := c.candidates()
	then, err := c.ignores(ctx, c.rulesThen(), candidates)
	if err != nil {
		return nil, err
	}
	var single []string // files in directories that are not hidden as a whole
	for _, name := range candidates {
		switch dir, isDir := strings.CutSuffix(name, "/"); {
		case then[name]:
		case !isDir:
			if info, err := root.Lstat(name); err == nil && c.isUnseen(name, info.Mode()) {
				single = append(single, name)
			}
		default:
			found, err := c.hiddenIn(ctx, root, dir)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return append(named(single), all...), nil
}

// isUnseen reports whether a path is a file, or a link, that the last look has not found.
func (c *capture) isUnseen(name string, kind fs.FileMode) bool {
	return (kind.IsRegular() || kind&fs.ModeSymlink != 0) && !c.sees(name)
}

// candidates are the ignored files and directories. Of a directory that ignores itself, that is all of it.
func (c *capture) candidates() (all []string) {
	for _, name := range c.sight.ignored {
		for _, dir := range c.sight.selfIgnored {
			if strings.HasPrefix(name, dir) {
				name = dir
				break
			}
		}
		if !c.hiddenThen(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rulesChanged reports whether ignore rules have changed since the start.
func (c *capture) rulesChanged() bool {
	return len(differing(c.setup, c.began.Setup)) > 0 ||
		slices.ContainsFunc(c.changed, func(f loop.FileChange) bool { return path.Base(f.Path) == ".gitignore" }) ||
		slices.ContainsFunc(c.sight.selfIgnored, func(dir string) bool { return !c.hiddenThen(dir) })
}

// unseenIn returns the files in a directory that the last look has not found.
func (c *capture) unseenIn(root *os.Root, dir string) (files []string) {
	left := maxCounted
	_ = fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch left--; {
		case left < 0:
			return fs.SkipAll
		case err != nil: // as far as it can be read
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() != ".git" && c.isUnseen(name, d.Type()):
			files = append(files, name)
		}
		return nil //nolint:nilerr // likewise
	})
	return files
}

// hiddenIn returns what became hidden in a directory that is ignored as a whole now: its files, or itself if they are
// many.
func (c *capture) hiddenIn(ctx context.Context, root *os.Root, dir string) (all []loop.Unshown, err error) {
	files := c.unseenIn(root, dir)
	then, err := c.ignores(ctx, c.rulesThen(), files)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(name string) bool { return then[name] })
	why := loop.Hidden
	const signature = "Signature: 8a477f597d28d172789f06886806bc55" // of a cache, by https://bford.info/cachedir
	if tag, err := readIn(root, dir+"/CACHEDIR.TAG", maxHiddenText); err == nil && bytes.HasPrefix(tag, []byte(signature)) {
		why = loop.HiddenCache
	}
	if len(files) > maxHiddenIn {
		return []loop.Unshown{{Path: dir + "/", Why: why, Status: loop.FileAdded, Files: len(files)}}, nil
	}
	for _, name := range files {
		all = append(all, loop.Unshown{Path: name, Why: why, Status: loop.FileAdded})
	}
	return all, nil
}

// named returns hidden files, the topmost first; if they are too many, only the directories of the rest.
func named(files []string) (all []loop.Unshown) {
	slices.SortStableFunc(files, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	more := map[string]int{}
	for i, name := range files {
		if i < maxHidden {
			all = append(all, loop.Unshown{Path: name, Why: loop.Hidden, Status: loop.FileAdded})
		} else {
			more[path.Dir(name)+"/"]++
		}
	}
	for dir, n := range more {
		all = append(all, loop.Unshown{Path: dir, Why: loop.Hidden, Status: loop.FileAdded, Files: n})
	}
	return all
}

// secret reports whether people keep secrets in a file of that name. Its text is not shown.
func secret(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore":
		return true
	}
	return strings.HasPrefix(base, ".env") || strings.HasPrefix(base, "id_") || base == ".npmrc" || base == ".netrc" || base == ".pypirc"
}

// added returns the patch of a new file, as text; "" if it is none, or cannot be read.
func added(root *os.Root, name string) string {
	content, mode := []byte(nil), Regular
	target, err := root.Readlink(name)
	if err == nil {
		content, mode = []byte(target), Symlink
	} else if content, err = readIn(root, name, maxHiddenText); err != nil {
		return ""
	}
	head := fmt.Sprintf("diff --git %s %s\nnew file mode %06o\n", patch.Quote("a/"+name), patch.Quote("b/"+name), mode)
	if len(content) == 0 {
		return head
	}
	return legible(head + fmt.Sprintf("--- /dev/null\n+++ %s\n", patch.Quote("b/"+name)) + patch.Added(content))
}

var errNotRead = errors.New("not a regular file, or too large")

// readIn returns the content of a regular file of at most so many bytes.
func readIn(root *os.Root, name string, most int64) ([]byte, error) {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, cmp.Or(err, errNotRead)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO by now
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, most))
}

package diff

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/patch"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
	"codeloops/internal/file"
	"codeloops/internal/loop"
)

// Limits of the report on files that became hidden.
const (
	maxHidden      = 500      // files named one by one
	maxHiddenIn    = 20       // of those, in a directory that is hidden as a whole
	maxHiddenText  = 64 << 10 // bytes shown of one file
	maxHiddenTexts = 1 << 20  // bytes shown of all of them
	maxCounted     = 10_000   // entries below a directory that are counted
)

// hidden returns the files that git ignores by rules added since the session began. It looks
// only where rules have changed.
func (c *capture) hidden(ctx context.Context) ([]unseen, error) {
	starts := c.whereRulesChanged()
	if len(starts) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(c.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	l := &look{root: root, state: c.state.Root, nests: c.nests.rules}
	l.wholes = slices.DeleteFunc(slices.Clone(c.state.SelfIgnored), c.hiddenThen)
	begun := make(map[*ignore.Rules]string) // the last start with each set of rules
	for _, start := range starts {
		in, rest := c.rulesOf(start)
		if above, known := begun[in]; known && strings.HasPrefix(start, above) {
			continue
		}
		begun[in] = start
		then := c.rulesThen(ctx, strings.TrimSuffix(start, rest), in).Dir(rest)
		if !then.Excluded() {
			l.directory(ctx, start, in.Dir(rest), then)
		}
	}
	return l.report(), ctx.Err()
}

// whereRulesChanged returns the directories in and below which the ignore rules have changed
// since the start, sorted. Each is "" or ends in a slash.
func (c *capture) whereRulesChanged() []string {
	var starts []string
	if !maps.Equal(c.setup, c.setupThen) {
		starts = append(starts, "")
		for nest := range c.nests.rules {
			starts = append(starts, nest+"/")
		}
	}
	for _, f := range c.changed {
		if dir, name := path.Split(f.Path); name == ".gitignore" {
			starts = append(starts, dir)
		}
	}
	for _, dir := range c.state.SelfIgnored {
		if !c.hiddenThen(dir) {
			starts = append(starts, dir)
		}
	}
	slices.Sort(starts)
	return starts
}

// hiddenThen reports whether a directory ignored itself when the session began, by the rules that
// it still has.
func (c *capture) hiddenThen(dir string) bool {
	was, known := c.ignoredThen[dir]
	return known && was == checkpoint.Digest(digestOf(c.absolute(dir+".gitignore")))
}

// rulesThen returns the ignore rules at the start of the session, of the work tree ("") or a nest,
// given the current ones. The rule files are in the state of that time, except those of
// directories that ignored themselves.
func (c *capture) rulesThen(ctx context.Context, area string, now *ignore.Rules) *ignore.Rules {
	base, outside := c.contents(ctx, c.base), c.outsideThen
	if now != c.rules {
		outside = []string{c.outsideThen[0], now.Options().Outside[1]} // its own do not change
	}
	return ignore.New(ignore.Options{
		Outside: outside, IgnoreCase: c.ignoreCaseThen,
		FromIndex: func(name string) ([]byte, bool) {
			name = area + name
			if text, found := base(name); found {
				return text, true
			}
			if dir, _ := path.Split(name); !c.hiddenThen(dir) {
				return nil, false
			}
			text, _, err := file.Read(c.absolute(name), file.Options{})
			return text, err == nil
		},
	})
}

// A look is a search for files that became hidden.
type look struct {
	root   *os.Root
	state  *scan.Dir
	wholes []string                 // see scan.State.SelfIgnored
	nests  map[string]*ignore.Rules // by their paths
	single []string                 // files hidden in a directory that is not hidden as a whole
	whole  []unseen                 // directories that are hidden as a whole, or their files if they are few
}

// directory searches a directory, given the rules in it now and those of the start, which do not
// ignore it.
func (l *look) directory(ctx context.Context, at string, now, then *ignore.Dir) {
	if _, whole := slices.BinarySearch(l.wholes, at); whole {
		l.count(ctx, at)
		return
	}
	for _, e := range l.entries(at, -1) {
		name, is := at+e.Name(), now.Ignored(e.Name(), e.IsDir())
		switch {
		case e.Name() == ".git", then.Ignored(e.Name(), e.IsDir()), ctx.Err() != nil:
		case e.IsDir() && is && l.nests[name] == nil && l.state.Dir(name).Empty():
			l.count(ctx, name+"/")
		case l.nests[name] != nil: // which has rules of its own
		case e.IsDir():
			l.directory(ctx, name+"/", now.Sub(e.Name()), then.Sub(e.Name()))
		case is && recordable(e) && l.state.Find(name) == nil:
			l.single = append(l.single, name)
		}
	}
}

// recordable reports whether git would record an entry.
func recordable(e fs.DirEntry) bool { return e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0 }

// count records a directory that is hidden as a whole.
func (l *look) count(ctx context.Context, dir string) {
	files, left := 0, maxCounted-1
	var first []string // those with the shortest paths
	for queue := []string{dir}; len(queue) > 0 && left > 0 && ctx.Err() == nil; queue = queue[1:] {
		for _, e := range l.entries(queue[0], left) {
			left--
			name := queue[0] + e.Name()
			switch {
			case e.IsDir():
				queue = append(queue, name+"/")
			case recordable(e):
				files++
				if len(first) < maxHiddenIn {
					first = append(first, name)
				}
			}
		}
	}
	why := loop.Hidden
	const signature = "Signature: 8a477f597d28d172789f06886806bc55" // of a cache, by https://bford.info/cachedir
	if tag, err := readIn(l.root, dir+"CACHEDIR.TAG", maxHiddenText); err == nil && bytes.HasPrefix(tag, []byte(signature)) {
		why = loop.HiddenCache
	}
	if files > maxHiddenIn {
		l.whole = append(l.whole, unseenAt(dir, why, files))
		return
	}
	for _, name := range first {
		l.whole = append(l.whole, unseenAt(name, why, 0))
	}
}

func unseenAt(name string, why loop.UnshownWhy, files int) unseen {
	return unseen{Unshown: loop.Unshown{Path: name, Why: why, Status: loop.FileAdded, Files: files}}
}

// entries returns the entries of a directory, as far as they can be read, and most of them at
// most, if most is positive.
func (l *look) entries(dir string, most int) []fs.DirEntry {
	f, err := l.root.OpenFile(cmp.Or(strings.TrimSuffix(dir, "/"), "."), os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO by now
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	all, _ := f.ReadDir(most)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// report returns what was found, unsorted. If too many files are hidden one by one, it names only the
// directories of the rest.
func (l *look) report() (all []unseen) {
	slices.SortStableFunc(l.single, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	more := map[string]int{}
	for i, name := range l.single {
		if i < maxHidden {
			all = append(all, unseenAt(name, loop.Hidden, 0))
		} else {
			more[path.Dir(name)+"/"]++
		}
	}
	for dir, n := range more {
		all = append(all, unseenAt(dir, loop.Hidden, n))
	}
	all = append(all, l.whole...)
	texts := 0 // bytes
	for i := range all {
		if u := &all[i]; texts < maxHiddenTexts && u.Files == 0 && u.Why == loop.Hidden && !secret(u.Path) {
			u.pair = added(l.root, u.Path)
			texts += len(u.pair.After.Content)
		}
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

// added returns a new file, or the zero pair if it cannot be read.
func added(root *os.Root, name string) patch.Pair {
	content, mode := []byte(nil), scan.Regular
	target, err := root.Readlink(name)
	if err == nil {
		content, mode = []byte(target), scan.Symlink
	} else if content, err = readIn(root, name, maxHiddenText); err != nil {
		return patch.Pair{}
	}
	return readableOnly(name, patch.Side{}, patch.Side{Mode: mode, ID: store.Sum(plumbing.BlobObject, content), Content: content})
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

package diff_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// A nestOracle asks git for the state of a nested repository. It uses another repository
// with the same work tree, so that the nested repository's settings do not count.
type nestOracle struct {
	*oracle
	path   string // relative to the root
	gitDir string
}

func (o *oracle) nest(path string) *nestOracle {
	o.t.Helper()
	n := &nestOracle{oracle: o, path: path}
	var err error
	n.gitDir, err = os.MkdirTemp(o.dir, "nest")
	o.must(err)
	o.git("init", "-q", "--bare", n.gitDir)
	o.git("--git-dir="+n.gitDir, "config", "core.bare", "false")
	o.raw(n.gitDir)
	return n
}

func (n *nestOracle) in(index string, stdin []byte, args ...string) string {
	n.t.Helper()
	out, err := n.run(n.t.Context(), n.root, []string{
		"GIT_DIR=" + n.gitDir, "GIT_WORK_TREE=" + n.oracle.path(n.path), "GIT_INDEX_FILE=" + filepath.Join(n.gitDir, index+"-index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(n.dir, "objects"),
	}, stdin, args...)
	n.must(err)
	return strings.TrimSuffix(string(out), "\n")
}

// own returns the index entries of the nest's repository, if there is one.
func (n *nestOracle) own() []string {
	if !n.isRepository(n.path) {
		return nil
	}
	return records(n.gitIn(n.oracle.path(n.path), "ls-files", "--stage", "-z"))
}

func records(z string) []string {
	return strings.FieldsFunc(z, func(r rune) bool { return r == 0 })
}

func (o *oracle) isRepository(dir string) bool {
	return o.exists(dir+"/.git/HEAD") || o.exists(dir+"/.git") && !o.isDir(dir+"/.git")
}

// entries returns the entries in scope in the nest, and fills the index of the given
// name.
func (n *nestOracle) entries(index string) []string {
	n.t.Helper()
	if !n.isDir(n.path) {
		return nil
	}
	own := n.own()
	if index == "now" {
		own = append(own, n.staged("base")...) // the last entry for a path counts
	}
	_ = os.Remove(filepath.Join(n.gitDir, index+"-index"))
	n.in(index, []byte(strings.Join(append(own, ""), "\x00")), "update-index", "-z", "--index-info")
	n.in(index, nil, "-c", "advice.addEmbeddedRepo=false", "add", "-A", ".")
	addDeciders(func(stdin []byte, args ...string) string { return n.in(index, stdin, args...) })
	return n.staged(index)
}

func (n *nestOracle) staged(index string) []string {
	n.t.Helper()
	return n.listed(filepath.Join(n.gitDir, index+"-index"), func() string { return n.in(index, nil, "ls-files", "--stage", "-z") })
}

// findNests finds the initial nests and the entries in scope in them.
func (o *oracle) findNests() {
	o.t.Helper()
	for _, path := range links("", o.staged("base")) {
		o.nests = append(o.nests, o.nest(path))
	}
	for i := 0; i < len(o.nests); i++ {
		for _, path := range links(o.nests[i].path+"/", o.nests[i].entries("base")) {
			o.nests = append(o.nests, o.nest(path))
		}
	}
}

// links returns the paths of the gitlinks among entries.
func links(prefix string, entries []string) (paths []string) {
	for _, e := range entries {
		if path, ok := strings.CutPrefix(e, "160000 "); ok {
			paths = append(paths, prefix+path[strings.IndexByte(path, '\t')+1:])
		}
	}
	return paths
}

// nestsNow returns the initial nests, and those whose gitlinks are new in the index.
func (o *oracle) nestsNow() []*nestOracle {
	o.t.Helper()
	all := slices.Clone(o.nests)
	known := map[string]bool{}
	for _, n := range o.nests {
		known[n.path] = true
	}
	for _, path := range links("", o.staged("now")) {
		if !known[path] {
			n := o.nest(path)
			n.in("base", nil, "read-tree", "--empty")
			all = append(all, n)
		}
	}
	return all
}

// hideRepositories moves the git directories of repositories away that were none
// initially, until back is called.
func (o *oracle) hideRepositories() (back func()) {
	o.t.Helper()
	nests := map[string]bool{}
	for _, n := range o.nests {
		nests[n.path] = true
		for _, path := range links(n.path+"/", n.own()) {
			nests[path] = true
		}
	}
	tracked := records(o.git("ls-files", "--stage", "-z"))
	for _, path := range links("", append(tracked, o.staged("now")...)) {
		nests[path] = true
	}
	hidden := map[string]string{}
	_ = filepath.WalkDir(o.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != ".git" {
			return nil //nolint:nilerr // what cannot be read is not hidden
		}
		dir, _ := filepath.Rel(o.root, filepath.Dir(path))
		if dir != "." && !nests[filepath.ToSlash(dir)] {
			hidden[path] = filepath.Join(o.dir, fmt.Sprintf("hidden-%d", len(hidden)))
		}
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil { // on another file system
			tool(o.t, "mv", "-T", "--", from, to)
		}
	}
	for from, to := range hidden {
		move(from, to)
	}
	return func() {
		for from, to := range hidden {
			move(to, from)
		}
	}
}

// A joined is a state that includes nests. It has the tree of all files, and the trees of
// the gitlinks in the work tree itself (at "") and in each nest: a single tree cannot
// contain a gitlink and files below it.
type joined struct {
	files string
	links map[string]string
}

// join requires that the index of that name is filled.
func (o *oracle) join(index string, nests []*nestOracle) joined {
	o.t.Helper()
	var files bytes.Buffer
	tree := func(entries []byte) string {
		if known, ok := o.trees[string(entries)]; ok {
			return known
		}
		o.in("joined", nil, "read-tree", "--empty")
		o.in("joined", entries, "update-index", "-z", "--index-info")
		id := o.in("joined", nil, "write-tree", "--missing-ok")
		o.trees[string(entries)] = id
		return id
	}
	j := joined{links: map[string]string{}}
	take := func(prefix string, entries []string) {
		var links bytes.Buffer
		for _, e := range entries {
			head, name, _ := strings.Cut(e, "\t")
			to := &files
			if strings.HasPrefix(head, "160000 ") {
				to = &links
			}
			fmt.Fprintf(to, "%s\t%s%s\x00", head, prefix, name)
		}
		j.links[prefix] = tree(links.Bytes())
	}
	take("", o.staged(index))
	for _, n := range nests {
		take(n.path+"/", n.entries(index))
	}
	j.files = tree(files.Bytes())
	return j
}

func (o *oracle) joinNow(nests []*nestOracle) joined {
	o.t.Helper()
	defer o.hideRepositories()()
	return o.join("now", nests)
}

// checkJoined compares a capture with git's answer for the work tree and each nest, and
// applies the patch to the initial state.
func (o *oracle) checkJoined(c loop.Change, nests []*nestOracle) {
	o.t.Helper()
	now := o.joinNow(nests)
	text := func(before, after string) []section {
		return sections(o.in("now", nil, "diff-tree", "-p", "-r", "--full-index", "--no-renames", before, after),
			o.in("now", nil, "diff-tree", "-r", "-z", "--no-renames", "--name-status", before, after))
	}
	want := text(o.joined.files, now.files)
	for prefix, after := range now.links {
		before := o.joined.links[prefix]
		if before == "" {
			before = o.in("now", nil, "hash-object", "-t", "tree", "-w", os.DevNull)
		}
		want = append(want, text(before, after)...)
	}
	slices.SortStableFunc(want, func(a, b section) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return strings.Compare(b.kind(), a.kind()) // deletions come first
	})
	var all strings.Builder
	for _, s := range want {
		all.WriteString(s.text)
	}
	if got := c.Patch(); got != all.String() {
		hunks, _ := patch.Hunks(context.Background(), "", 3, patch.Texts{Before: []byte(all.String()), After: []byte(got)})
		o.t.Fatalf("from git's text to the captured one:\n%s", hunks)
	}
	files := withoutLinks(c)
	o.in("applied", nil, "read-tree", o.joined.files)
	if text := files.ApplicablePatch(); text != "" && !strings.Contains(text, " /") {
		o.in("applied", []byte(text), "apply", "--cached", "--binary", "--whitespace=nowarn", "-")
		if got := o.in("applied", nil, "write-tree"); got != now.files {
			o.t.Fatalf("the patch gives tree %s, not %s:\n%s", got, now.files, text)
		}
	}
}

// withoutLinks removes the commits of nested repositories from a change.
func withoutLinks(c loop.Change) loop.Change {
	c.Files = slices.DeleteFunc(slices.Clone(c.Files), func(f loop.FileChange) bool {
		return f.OldMode == 0o160000 || f.NewMode == 0o160000
	})
	return c
}

// filesOnly returns git's diff between two commits without the commits of nested
// repositories.
func (o *oracle) filesOnly(from, to string) string {
	o.t.Helper()
	var b strings.Builder
	for _, s := range sections(o.keptGit("diff-tree", "-p", "-r", "--full-index", "--no-renames", from, to),
		o.keptGit("diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to)) {
		if head, _, _ := strings.Cut(s.text, "\n@@ "); !strings.Contains(head, " 160000") {
			b.WriteString(s.text)
		}
	}
	return b.String()
}

// A section is the part of a diff for one path.
type section struct{ path, text string }

func (s section) kind() string {
	if strings.Contains(s.text, "\ndeleted file mode ") {
		return "deleted"
	}
	return "added"
}

// sections splits a diff by the paths that git lists in status.
func sections(diff, status string) (all []section) {
	texts := strings.SplitAfter(diff+"\n", "\n")
	var parts []string
	for _, line := range texts {
		if strings.HasPrefix(line, "diff --git ") {
			parts = append(parts, "")
		}
		if len(parts) > 0 {
			parts[len(parts)-1] += line
		}
	}
	fields := records(status)
	for i := 0; i+1 < len(fields); i += 2 {
		for range map[bool]int{true: 2, false: 1}[fields[i] == "T"] {
			all = append(all, section{fields[i+1], parts[0]})
			parts = parts[1:]
		}
	}
	return all
}

package diff_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff/lines"
	"codeloops/internal/loop"
)

// A nestOracle lets git tell the state of a repository inside, in a repository of
// its own with the same work tree: nothing that this one is set up with counts.
type nestOracle struct {
	*oracle
	path   string // from the root
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

// own is what the nest's repository tracks, if there is one.
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

// entries returns what is in scope in the nest, after what was in the index from.
func (n *nestOracle) entries(index string) []string {
	n.t.Helper()
	if !n.isDir(n.path) {
		return nil
	}
	own := n.own()
	if index == "now" {
		own = append(own, n.staged("base")...) // the last one counts
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

// findNests finds the nests of the beginning, and what is in scope in them.
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

// nestsNow returns the nests of the beginning, and those that the index has come to
// have gitlinks for.
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

// hideRepositories takes away what makes a repository of a directory that was none
// at the beginning, for as long as git looks.
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
			return nil //nolint:nilerr // what cannot be read hides nothing
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
		if err := os.Rename(from, to); err != nil { // another file system
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

// A joined is a state with what is in nests: the trees of all files, and of the
// gitlinks in the work tree itself (at "") and in each nest. No tree can have a gitlink
// with something below it.
type joined struct {
	files string
	links map[string]string
}

// join needs the index of that name to be filled.
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

// checkJoined compares a capture with what git says of the work tree and of each
// nest, and applies it to the beginning.
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
		return strings.Compare(b.kind(), a.kind()) // deleted first
	})
	var all strings.Builder
	for _, s := range want {
		all.WriteString(s.text)
	}
	if got := c.Patch(); got != all.String() {
		hunks, _, _ := lines.Append(nil, []byte(all.String()), []byte(got))
		o.t.Fatalf("from git's text to the captured one:\n%s", hunks)
	}
	files := withoutLinks(c)
	o.in("applied", nil, "read-tree", o.joined.files)
	if patch := files.ApplicablePatch(); patch != "" && !strings.Contains(patch, " /") {
		o.in("applied", []byte(patch), "apply", "--cached", "--binary", "--whitespace=nowarn", "-")
		if got := o.in("applied", nil, "write-tree"); got != now.files {
			o.t.Fatalf("the patch gives tree %s, not %s:\n%s", got, now.files, patch)
		}
	}
}

// withoutLinks leaves out of a change the commits of repositories inside.
func withoutLinks(c loop.Change) loop.Change {
	c.Files = slices.DeleteFunc(slices.Clone(c.Files), func(f loop.FileChange) bool {
		return f.OldMode == 0o160000 || f.NewMode == 0o160000
	})
	return c
}

// filesOnly is what git prints for the change from one commit to another, without
// the commits of repositories inside.
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

// A section is the part of a diff that is about one path.
type section struct{ path, text string }

func (s section) kind() string {
	if strings.Contains(s.text, "\ndeleted file mode ") {
		return "deleted"
	}
	return "added"
}

// sections splits a diff by what git says are its paths.
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

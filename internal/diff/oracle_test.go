package diff_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// An oracle asks git what has changed. It fills its own index from the work tree with
// `git add -A` when the session begins and, on a copy of it, at each capture. New objects
// go to a separate directory.
type oracle struct {
	*sandbox
	dir     string
	objects string          // the repository's objects
	gitDir  string          // its own, with the repository's settings and rules, in which nothing is converted
	start   string          // the initial tree
	known   map[string]bool // the initial paths

	// fresh makes git read every file again: git compares times only by the second, so a
	// change can escape it.
	fresh bool

	// nests are the initial nested repositories and places of submodules; joined is the
	// initial state that includes them.
	nests  []*nestOracle
	joined joined
	nested bool // whether the last check found any

	listings map[[sha256.Size]byte][]string // by the content of an index, so that git is asked once
	trees    map[string]string              // by their entries, likewise
}

func newOracle(s *sandbox) *oracle {
	s.t.Helper()
	dir, err := os.MkdirTemp(s.base, "oracle")
	s.must(err)
	o := &oracle{sandbox: s, dir: dir, listings: map[[sha256.Size]byte][]string{}, trees: map[string]string{}}
	o.objects = o.gitPath("objects")
	s.must(os.Mkdir(filepath.Join(o.dir, "objects"), 0o755))
	o.gitDir = filepath.Join(o.dir, "git")
	o.git("init", "-q", "--bare", o.gitDir)
	o.raw(o.gitDir)
	shared, _ := filepath.Glob(o.gitPath("sharedindex.*"))
	for _, part := range shared {
		o.copy(part, filepath.Join(o.gitDir, filepath.Base(part)))
		o.copy(part, filepath.Join(o.dir, filepath.Base(part)))
	}
	o.copy(o.gitPath("index"), o.index("base"))
	o.forgetStats("base")
	o.markAbsent("base")
	o.add("base")
	o.start = o.in("base", nil, "write-tree")
	o.known = o.names("base")
	o.findNests()
	o.joined = o.join("base", o.nests)
	return o
}

// raw makes git convert nothing in a repository.
func (o *oracle) raw(gitDir string) {
	o.t.Helper()
	o.must(os.MkdirAll(filepath.Join(gitDir, "info"), 0o755))
	o.must(os.WriteFile(filepath.Join(gitDir, "info", "attributes"), []byte("* -text -filter -ident -working-tree-encoding !diff\n"), 0o644))
}

func (s *sandbox) gitPath(name string) string {
	s.t.Helper()
	path := s.git("rev-parse", "--git-path", name)
	if !filepath.IsAbs(path) {
		path = s.path(path)
	}
	return path
}

func (o *oracle) index(name string) string { return filepath.Join(o.dir, name) }

// copy preserves the time of an index, by which git recognizes racy entries.
func (o *oracle) copy(from, to string) {
	o.t.Helper()
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		return
	}
	o.must(err)
	content, err := os.ReadFile(from)
	o.must(err)
	o.must(os.WriteFile(to, content, 0o644))
	o.must(os.Chtimes(to, info.ModTime(), info.ModTime()))
}

func (o *oracle) in(index string, stdin []byte, args ...string) string {
	o.t.Helper()
	for name, from := range map[string]string{"config": o.gitPath("config"), "info/exclude": o.gitPath("info/exclude")} {
		content, err := os.ReadFile(from)
		if !os.IsNotExist(err) {
			o.must(err)
		}
		o.must(os.WriteFile(filepath.Join(o.gitDir, name), content, 0o644))
	}
	out, err := o.run(o.t.Context(), o.root, []string{
		"GIT_DIR=" + o.gitDir, "GIT_WORK_TREE=" + o.root, "GIT_INDEX_FILE=" + o.index(index),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(o.dir, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + o.objects + string(filepath.ListSeparator) + filepath.Join(o.own, "objects"),
	}, stdin, args...)
	o.must(err)
	return strings.TrimSuffix(string(out), "\n")
}

// staged returns the entries of an index.
func (o *oracle) staged(index string) []string {
	o.t.Helper()
	return o.listed(o.index(index), func() string { return o.in(index, nil, "ls-files", "--stage", "-z") })
}

func (o *oracle) listed(index string, list func() string) []string {
	o.t.Helper()
	content, err := os.ReadFile(index)
	if err != nil {
		return records(list())
	}
	key := sha256.Sum256(content)
	if _, ok := o.listings[key]; !ok {
		o.listings[key] = records(list())
	}
	return slices.Clone(o.listings[key])
}

func (o *oracle) add(index string) {
	o.t.Helper()
	o.in(index, nil, "-c", "advice.addEmbeddedRepo=false", "add", "-A", "--sparse", "--", ":/")
	addDeciders(func(stdin []byte, args ...string) string { return o.in(index, stdin, args...) })
}

// addDeciders adds what git adds only on request, and we always do: a file that decides
// what is in scope and is ignored itself, unless its whole directory is ignored.
func addDeciders(git func(stdin []byte, args ...string) string) {
	var deciders bytes.Buffer
	for record := range strings.SplitSeq(git(nil, "--no-optional-locks", "status", "-z", "--no-renames", "--ignored", "--ignore-submodules=all"), "\x00") {
		// For a directory that is ignored as a whole, git prints only its name with a
		// slash.
		if name, ignored := strings.CutPrefix(record, "!! "); ignored && diff.Decides(name) && !strings.HasSuffix(name, "/") {
			deciders.WriteString(":(literal)" + name + "\x00")
		}
	}
	if deciders.Len() > 0 {
		git(deciders.Bytes(), "add", "-f", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
}

// markAbsent marks in an index what a sparse checkout leaves out of the work tree, if the index has what the user's has,
// and nothing else. To git, and for us, that is unchanged.
func (o *oracle) markAbsent(index string) {
	o.t.Helper()
	has := map[string]bool{}
	var present, absent bytes.Buffer
	for _, entry := range o.staged(index) {
		_, name, _ := strings.Cut(entry, "\t")
		has[entry] = true
		present.WriteString(name + "\x00")
	}
	for record := range strings.SplitSeq(o.git("ls-files", "-t", "--stage", "-z"), "\x00") {
		if entry, skipped := strings.CutPrefix(record, "S "); skipped && has[entry] {
			if _, name, _ := strings.Cut(entry, "\t"); !o.exists(name) {
				absent.WriteString(name + "\x00")
			}
		}
	}
	if strings.Contains(o.in(index, nil, "ls-files", "-t"), "S ") {
		o.in(index, present.Bytes(), "update-index", "--no-skip-worktree", "-z", "--stdin")
	}
	if absent.Len() > 0 {
		o.in(index, absent.Bytes(), "update-index", "--skip-worktree", "-z", "--stdin")
	}
}

// forgetStats makes git read every file of an index. Otherwise it believes an entry whose stat is clean, although the
// blob is what a filter made of the file: git does not compare the content of one that is older than the second of the
// index.
func (o *oracle) forgetStats(index string) {
	o.t.Helper()
	if list := o.in(index, nil, "ls-files", "--stage", "-z"); list != "" {
		o.in(index, []byte(list), "update-index", "-z", "--index-info")
	}
}

// now returns the tree of the current state: all paths that were in scope initially, are
// tracked now, or are untracked and not ignored.
func (o *oracle) now() string {
	o.t.Helper()
	if o.fresh {
		o.in("now", nil, "read-tree", o.start)
	} else {
		o.copy(o.index("base"), o.index("now"))
	}
	o.trackNow()
	o.markAbsent("now")
	defer o.hideRepositories()()
	o.add("now")
	return o.in("now", nil, "write-tree")
}

// trackNow adds the new entries of the user's index. If a file conflicts with a directory
// of the same name, the work tree decides.
func (o *oracle) trackNow() {
	o.t.Helper()
	above := map[string]bool{}
	for name := range o.known {
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			above[dir] = true
		}
	}
	var entries bytes.Buffer
	for record := range strings.SplitSeq(o.git("ls-files", "-t", "--stage", "-z"), "\x00") {
		_, name, _ := strings.Cut(record, "\t")
		if name == "" || o.decided(record[2:], name) || record[0] == 'S' && !o.exists(name) || above[name] && o.isDir(name) {
			continue
		}
		free := true
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			free = free && (!o.known[dir] || o.isDir(dir))
		}
		if free {
			entries.WriteString(record[2:] + "\x00")
		}
	}
	if entries.Len() > 0 {
		o.in("now", entries.Bytes(), "update-index", "-z", "--index-info")
	}
}

// decided reports whether the initial entry of this name takes precedence. It does not if
// the new entry is a submodule that is not checked out and the initial entry is a file,
// because git does not look into that directory.
func (o *oracle) decided(entry, name string) bool {
	const gitlink = "160000 "
	unpopulated := strings.HasPrefix(entry, gitlink) && o.isDir(name) && !o.exists(name+"/.git")
	return o.known[name] && (!unpopulated || strings.HasPrefix(o.in("base", nil, "ls-files", "--stage", "--", ":(literal)"+name), gitlink))
}

func (o *oracle) isDir(name string) bool {
	info, err := os.Lstat(o.path(name))
	return err == nil && info.IsDir()
}

func (o *oracle) names(index string) map[string]bool {
	o.t.Helper()
	names := map[string]bool{}
	for name := range strings.SplitSeq(o.in(index, nil, "ls-files", "-z"), "\x00") {
		names[name] = true
	}
	return names
}

// patch returns git's diff from the initial state to a tree.
func (o *oracle) patch(tree string) string {
	o.t.Helper()
	text := o.in("now", nil, "diff-tree", "-p", "-r", "--full-index", "--no-renames", o.start, tree)
	if text != "" {
		text += "\n"
	}
	return text
}

// check compares a capture with git's answer, and applies its patch to the initial state.
func (o *oracle) check(c loop.Change) {
	o.t.Helper()
	tree := o.checkText(c)
	if o.nested {
		return // checkText has checked what is possible
	}
	o.checkShape(c, tree)
	o.checkApplies(c, tree)
}

// checkText compares a capture's patch with git's, and returns the tree.
func (o *oracle) checkText(c loop.Change) (tree string) {
	o.t.Helper()
	tree = o.now()
	now := o.nestsNow()
	if o.nested = len(now) > 0; o.nested {
		o.checkJoined(c, now)
		return tree
	}
	if got, want := c.Patch(), o.patch(tree); got != want {
		hunks, _ := patch.Hunks(context.Background(), "", 3, patch.Texts{Before: []byte(want), After: []byte(got)})
		o.t.Fatalf("from git's text to the captured one:\n%s", hunks)
	}
	if c.State != tree {
		o.t.Fatalf("state %s, git's tree %s", c.State, tree)
	}
	o.checkNumbers(c, tree)
	return tree
}

// checkShape compares the counts, modes and sizes of a capture with git's, path by path.
func (o *oracle) checkShape(c loop.Change, tree string) {
	o.t.Helper()
	var b strings.Builder
	for i := 0; i < len(c.Files); i++ {
		f := c.Files[i]
		counts := fmt.Sprintf("%d\t%d", f.Insertions, f.Deletions)
		switch {
		case i+1 < len(c.Files) && c.Files[i+1].Path == f.Path:
			i++
			counts, f.NewMode, f.NewSize = otherType, c.Files[i].NewMode, c.Files[i].NewSize
		case f.Binary:
			counts = "-\t-"
		}
		fmt.Fprintf(&b, "%s\t%q\t%06o %06o\t%d %d\n", counts, f.Path, f.OldMode, f.NewMode, f.OldSize, f.NewSize)
	}
	if got, want := b.String(), o.shape(tree); got != want {
		o.t.Fatalf("got\n%swant, from git\n%s", got, want)
	}
}

// otherType replaces the counts of a path that became a symlink or is one no longer. Git
// counts no lines for it.
const otherType = "of another type"

// shape returns a line for each changed path, from git.
func (o *oracle) shape(tree string) string {
	o.t.Helper()
	records := func(form string) []string {
		out := o.in("now", nil, "diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", form, o.start, tree)
		return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	}
	raw, numbers := records("--raw"), records("--numstat")
	if raw[0] == "" {
		return ""
	}
	sizes := o.sizes(raw)
	var b strings.Builder
	for i, number := range numbers {
		fields := strings.Fields(strings.TrimPrefix(raw[2*i], ":")) // modes, IDs and the status
		columns := strings.SplitN(number, "\t", 3)
		counts, path := columns[0]+"\t"+columns[1], columns[2]
		switch {
		case fields[4] == "T":
			counts = otherType
		case fields[2] == fields[3]: // also if it is binary
			counts = "0\t0"
		}
		fmt.Fprintf(&b, "%s\t%q\t%s %s\t%d %d\n", counts, path, fields[0], fields[1], sizes[fields[2]], sizes[fields[3]])
	}
	return b.String()
}

// sizes returns the lengths of the blobs in git's raw records, by ID. Other objects have
// length 0.
func (o *oracle) sizes(raw []string) map[string]int {
	o.t.Helper()
	var ids bytes.Buffer
	for i := 0; i < len(raw); i += 2 {
		fields := strings.Fields(strings.TrimPrefix(raw[i], ":"))
		for side := range 2 {
			if mode, id := fields[side], fields[2+side]; mode != "160000" { // a gitlink's commit may exist here, too
				ids.WriteString(id + "\n")
			}
		}
	}
	sizes := make(map[string]int)
	for line := range strings.SplitSeq(o.in("now", ids.Bytes(), "cat-file", "--batch-check=%(objectname) %(objectsize)"), "\n") {
		id, size, _ := strings.Cut(line, " ")
		sizes[id], _ = strconv.Atoi(size) // ignores lines that end in "missing"
	}
	return sizes
}

func (o *oracle) checkNumbers(c loop.Change, tree string) {
	o.t.Helper()
	insertions, deletions := 0, 0
	for _, f := range c.Files {
		insertions += f.Insertions
		deletions += f.Deletions
	}
	if c.Insertions != insertions || c.Deletions != deletions {
		o.t.Fatalf("sums %d, %d of files with %d, %d", c.Insertions, c.Deletions, insertions, deletions)
	}
	if c.Empty() != (tree == o.start) {
		o.t.Fatalf("%d files changed from %s to %s", len(c.Files), o.start, tree)
	}
}

func (o *oracle) checkApplies(c loop.Change, tree string) {
	o.t.Helper()
	if c.Empty() || strings.Contains(c.Patch(), " /") { // git cannot parse such names in a patch
		return
	}
	o.in("applied", nil, "read-tree", o.start)
	o.in("applied", []byte(c.ApplicablePatch()), "apply", "--cached", "--binary", "--whitespace=nowarn", "-")
	if got := o.in("applied", nil, "write-tree"); got != tree {
		o.t.Fatalf("the patch gives tree %s, not %s:\n%s", got, tree, c.ApplicablePatch())
	}
}

// capture takes a capture and checks it.
func (o *oracle) capture(tree *diff.Tree) loop.Change {
	o.t.Helper()
	c, err := tree.Capture(o.t.Context())
	o.must(err)
	o.check(c)
	return c
}

// summary returns a short form of a change: "M f", "A g".
func summary(c loop.Change) string {
	var b strings.Builder
	for _, f := range c.Files {
		b.WriteString(strings.ToUpper(string(f.Status[:1])) + " " + f.Path + "\n")
	}
	return b.String()
}

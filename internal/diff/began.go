package diff

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/repo/file"
	"codeloops/internal/diff/scan"
)

// A begun is what else a session began with, besides the state and the setup: what
// tells later that something is hidden, or changed, of which git records nothing.
type begun struct {
	outside    []string // ignore rules that stand outside of the work tree, the user's first
	ignoreCase bool
	ignored    setup // digests of ignored files that matter, see [Tree.ignoredOf]
	// at is when it began, at the latest, where nothing is known of the stats that
	// files had then; else zero.
	at time.Time
}

// ignoredMark stands before the names of begun.ignored in a checkpoint. Alone it says
// that they are known.
const ignoredMark = "ignored: "

// begins takes down how things stand.
func (t *Tree) begins(state scan.State) {
	t.began = begun{ignored: t.ignoredOf(state)}
	if t.rules != nil {
		o := t.rules.origin
		t.began.outside, t.began.ignoreCase = []string{rulesIn(o.excludes), rulesIn(o.info)}, o.ignoreCase
	}
}

// resumes takes it from a checkpoint. Rules outside of the work tree are kept only as
// digests there: where they are others now, nothing counts as ignored by them.
func (t *Tree) resumes(then setup, at time.Time) error {
	r, err := t.reopen()
	if err != nil {
		return err
	}
	o, err := t.origin(r)
	if err != nil {
		return err
	}
	t.began = begun{at: at}
	now := t.setupOf(r)
	for _, name := range []string{o.excludes, o.info} {
		text := ""
		if key := t.nameOf(name); now[key] == then[key] {
			text = rulesIn(name)
		}
		t.began.outside = append(t.began.outside, text)
	}
	t.began.ignoreCase = o.ignoreCase && now["core.ignorecase"] == then["core.ignorecase"]
	if _, known := then[ignoredMark]; known {
		t.began.ignored = setup{}
	}
	for name, digest := range then {
		if ignored, ok := strings.CutPrefix(name, ignoredMark); ok && ignored != "" {
			t.began.ignored[ignored] = digest
		}
	}
	maps.DeleteFunc(then, func(name, _ string) bool { return strings.HasPrefix(name, ignoredMark) })
	return nil
}

// kept is the setup as a checkpoint keeps it.
func (b begun) kept(s setup) setup {
	all := maps.Clone(s)
	all[ignoredMark] = ""
	for name, digest := range b.ignored {
		all[ignoredMark+name] = digest
	}
	return all
}

// rulesIn returns the content of a file of ignore rules, "" where there is none.
func rulesIn(name string) string {
	if name == "" {
		return ""
	}
	text, _, _ := file.Read(name, file.How{Max: maxSetup})
	return string(text)
}

// ignoredOf returns digests of files that git ignores, by their paths: the rules of
// directories that hide themselves, and what tells agents how to work.
func (t *Tree) ignoredOf(state scan.State) setup {
	all := make(setup)
	for _, dir := range state.Hidden {
		all[dir] = checkpoint.Digest(t.digestOf(t.absolute(dir + ".gitignore")))
	}
	for _, below := range t.agentsLookIn() {
		for _, name := range t.options.Settings {
			t.addSettings(all, state.Root, below+name)
		}
	}
	return all
}

// agentsLookIn returns the directories, "" or with a slash at their end, in which
// agents look for their settings: the one that they work in, and those above.
func (t *Tree) agentsLookIn() []string {
	dir := t.dir
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	below, err := filepath.Rel(t.Root(), dir)
	if err != nil || !filepath.IsLocal(below) {
		return []string{""}
	}
	all := []string{""}
	for at := filepath.ToSlash(below); at != "."; at = path.Dir(at) {
		all = append(all, at+"/")
	}
	return all
}

// addSettings adds a file, or what is in a directory, if it is not in the state.
func (t *Tree) addSettings(all setup, state *scan.Dir, name string) {
	const most, deep = 200, 3 // files, directories below each other
	info, err := os.Stat(t.absolute(name))
	if err != nil {
		return
	}
	if !info.IsDir() {
		t.addSetting(all, state, name)
		return
	}
	left, root := most, t.absolute(name)
	_ = filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		below, _ := filepath.Rel(root, at)
		if left--; err != nil || left < 0 {
			return filepath.SkipAll
		}
		switch {
		case !e.IsDir():
			t.addSetting(all, state, path.Join(name, filepath.ToSlash(below)))
		case e.Name() == "node_modules", strings.Count(below, string(filepath.Separator)) >= deep:
			return filepath.SkipDir
		}
		return nil
	})
}

func (t *Tree) addSetting(all setup, state *scan.Dir, name string) {
	if state.Find(name) == nil {
		all[name] = checkpoint.Digest(t.digestOf(t.absolute(name)))
	}
}

// hiddenThen reports whether a directory hid itself when the session began, by the
// rules that it has now.
func (t *Tree) hiddenThen(dir string) bool {
	was, known := t.began.ignored[dir]
	return known && was == checkpoint.Digest(t.digestOf(t.absolute(dir+".gitignore")))
}

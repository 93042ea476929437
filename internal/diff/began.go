package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"codeloops/internal/diff/restore"
	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/wording"
)

// A beginning is what a session began with besides the files: it reveals what was later hidden, or changed, without a
// trace in git.
type beginning struct {
	At time.Time `json:"at"`
	// Setup is everything outside the work tree that decides which changes git sees, and how it converts files. No diff
	// shows when it changes, and it can hide a lot.
	Setup     digests `json:"setup"`
	Overrides digests `json:"overrides"` // see [overrides]
	// Ignored are files that no diff shows: the rules of directories that ignore themselves, and the ignored settings of
	// agents.
	Ignored digests        `json:"ignored"`
	Unread  []restore.Name `json:"unread"` // what could not be read
	Nests   []restore.Name `json:"nests"`
	// Rules are the ignore rules from outside the work tree, and IgnoreCase is how they were read.
	Rules      string `json:"rules"`
	IgnoreCase bool   `json:"ignore_case"`
}

// beginning returns it after the first look.
func (w *watcher) beginning() beginning {
	b := beginning{
		At: w.options.Now(), Setup: w.setupOf(), Overrides: w.overridesOf().digests, Ignored: w.ignoredOf(),
		Rules: w.rulesOutside(), IgnoreCase: w.files.IgnoreCase,
	}
	for _, name := range w.sight.unread {
		b.Unread = append(b.Unread, restore.Name(name))
	}
	for _, name := range slices.Sorted(maps.Keys(w.sight.nests)) {
		b.Nests = append(b.Nests, restore.Name(name))
	}
	return b
}

// rulesOutside returns the ignore rules from outside the work tree.
func (w *watcher) rulesOutside() string {
	var text strings.Builder
	for _, name := range []string{w.excludes, w.opened.InfoExclude()} {
		content, _, _ := file.Read(name, file.Options{}) // the look has told why
		text.Write(content)
		text.WriteByte('\n')
	}
	return text.String()
}

// digests stand for values, by names that tell a person where to look.
type digests = byName[string]

// digest returns the digest of a value.
func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// setupOf returns the setup now. For a file that cannot be read, it has a digest of the
// error.
func (w *watcher) setupOf() digests {
	s, r := digests{}, w.opened
	for _, e := range r.Entries() {
		if decides(e.Key) {
			s[e.Key] = digest(e.Value + strconv.FormatBool(e.Implicit))
		}
	}
	for name, e := range w.tracked.entries {
		if path.Base(name) == ".gitignore" && (e.tag == 'S' || e.tag == 's') {
			s[name+" in the index"] = e.ID.String()
		}
	}
	system, user, _ := r.AttributesFiles()
	for _, at := range []string{r.InfoExclude(), w.excludes, r.InfoAttributes(), user, system} {
		addFile(s, w.nameOf(at), at)
	}
	if w.sight != nil {
		w.addInside(s)
	}
	return s
}

// addInside adds the repositories inside that the last look has found, what only looks like one, and the ignore rules of
// nests.
func (w *watcher) addInside(s digests) {
	for at, f := range w.sight.fakes {
		s[at] = f.sum
	}
	for _, name := range w.sight.entered {
		s[name+"/.git"] = digest("a repository")
	}
	for name, n := range w.sight.nests {
		if n.repo != nil || errors.As(n.err, new(*git.UnsupportedError)) {
			s[name+"/.git"] = digest("the repository of a nest")
		}
		if n.repo != nil && (w.basis.nests == nil || slices.Contains(w.basis.nests, name)) {
			addFile(s, w.nameOf(n.repo.InfoExclude()), n.repo.InfoExclude())
		}
	}
}

// addFile adds a file to digests, if it is not empty.
func addFile(s digests, name, at string) {
	if sum := digestOf(at); sum != "" {
		s[name] = sum
	}
}

// digestOf returns the digest of a file, or of the error if it cannot be read. It is "" for a file
// that is empty or missing.
func digestOf(at string) string {
	content, _, err := file.Read(at, file.Options{})
	switch {
	case file.Missing(err), err == nil && len(content) == 0:
		return ""
	case err != nil:
		return digest(err.Error())
	}
	return digest(string(content))
}

// decides reports whether a setting is part of a setup.
func decides(key string) bool {
	switch key {
	case "core.filemode", "core.symlinks", "core.ignorecase", "core.autocrlf", "core.excludesfile", "core.attributesfile", "core.worktree":
		return true
	}
	return strings.HasPrefix(key, "filter.")
}

// differing returns the names of what has changed, sorted.
func differing(now, then digests) (names []string) {
	for name := range union(now, then) {
		if now[name] != then[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func union[M ~map[K]V, K comparable, V any](a, b M) M {
	all := M{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// setupChanged returns a sentence about what has changed, with the values of settings, or "".
func setupChanged(now, then digests, settings *git.Config) string {
	const most = 20
	names := differing(now, then)
	for i, name := range names {
		names[i] = wording.Name(name)
		if values := settings.All(name); len(values) > 0 {
			names[i] += " = " + quoted(values)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "the setup of git has changed since the session began; no diff shows that, and it can hide changes: " +
		wording.List(names, most)
}

// ignoredOf returns digests of files that no diff shows by path: the rules of directories that
// ignore themselves, and the ignored settings of agents.
func (w *watcher) ignoredOf() digests {
	all := digests{}
	for _, dir := range w.sight.selfIgnored {
		all[dir] = digest(digestOf(w.absolute(dir + ".gitignore")))
	}
	for _, below := range w.agentsLookIn() {
		for _, name := range w.options.Settings {
			w.addSettings(all, below+name)
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
func (w *watcher) addSettings(all digests, name string) {
	const most, deep = 200, 3 // files, levels of directories
	left, root := most, w.absolute(name)
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
			if !w.sees(file) {
				all[file] = digest(digestOf(w.absolute(file)))
			}
		case e.Name() == "node_modules", strings.Count(below, string(filepath.Separator)) >= deep:
			return filepath.SkipDir
		}
		return nil
	})
}

// sees reports whether the last look has found a file.
func (w *watcher) sees(name string) bool {
	e, err := w.objects.entry(w.sight.state, name)
	return err != nil || e != nil
}

// byName are values by paths, or other names, which can have any bytes. JSON cannot: there, such a name is a Go string.
type byName[V any] map[string]V

// MarshalJSON implements [json.Marshaler].
func (m byName[V]) MarshalJSON() ([]byte, error) {
	quoted := make(map[string]V, len(m))
	for name, v := range m {
		if !utf8.ValidString(name) || strings.HasPrefix(name, `"`) {
			name = strconv.QuoteToASCII(name)
		}
		quoted[name] = v
	}
	return json.Marshal(quoted)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *byName[V]) UnmarshalJSON(text []byte) error {
	var quoted map[string]V
	if err := json.Unmarshal(text, &quoted); err != nil {
		return err
	}
	*m = make(byName[V], len(quoted))
	for name, v := range quoted {
		if strings.HasPrefix(name, `"`) {
			var err error
			if name, err = strconv.Unquote(name); err != nil {
				return err
			}
		}
		(*m)[name] = v
	}
	return nil
}

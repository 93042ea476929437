package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/repo/file"
)

// The bounds of what is read as configuration. The depth is git's own; the
// number of files keeps a few files that include each other from taking forever.
const (
	maxDepth    = 10   // of includes
	maxIncludes = 1000 // in all
)

// A loader gathers the settings of all sources in order.
type loader struct {
	env            Env
	gitDirs        []string // the paths that conditional includes compare with
	commonDir      string
	worktreeConfig bool

	entries  []Entry
	includes int
	depth    int
	urls     []string // of all remotes, for conditional includes
	gather   bool     // this is the first reading, for urls
	pending  bool     // there is a condition that waits for urls
}

// load reads the whole configuration.
func (l loader) load() (*Config, error) {
	first := l
	first.gather = true
	err := first.all()
	if err != nil || !first.pending {
		return &Config{first.entries, l.env}, err
	}
	l.urls = first.urls
	err = l.all()
	return &Config{l.entries, l.env}, err
}

// readSettings reads one file without what it includes. A missing file is
// empty.
func readSettings(path string) (*Config, error) {
	entries, err := readEntries(path)
	if err != nil && !file.Missing(err) {
		return nil, err
	}
	return &Config{entries: entries}, nil
}

// readEntries returns the settings of one file.
func readEntries(path string) ([]Entry, error) {
	data, err := read(path, file.MaxText)
	if errors.Is(err, file.ErrNotRegular) {
		return nil, nil // such as /dev/null
	}
	if err != nil {
		return nil, err
	}
	return parse(path, string(data))
}

// all reads every source, by the list in the section "FILES" of git-config(1).
func (l *loader) all() error {
	system, ok := l.env("GIT_CONFIG_SYSTEM")
	if !ok {
		system = systemFile(l.env, "gitconfig")
	}
	if no, _ := parseBool(l.env.get("GIT_CONFIG_NOSYSTEM")); no {
		system = ""
	}
	global := []string{userFile(l.env, "config")}
	if dir := home(l.env); dir != "" {
		global = append(global, filepath.Join(dir, ".gitconfig"))
	}
	if path, ok := l.env("GIT_CONFIG_GLOBAL"); ok {
		global = []string{path}
	}
	own := []string{filepath.Join(l.commonDir, "config")}
	if l.worktreeConfig {
		own = append(own, filepath.Join(l.gitDirs[0], "config.worktree"))
	}
	for _, path := range slices.Concat([]string{system}, global, own) {
		err := l.file(path)
		if slices.Contains(global, path) && errors.Is(err, fs.ErrPermission) {
			continue // as in a home that is not ours
		}
		if err != nil {
			return fmt.Errorf("read git configuration: %w", err)
		}
	}
	return l.environment()
}

// file adds the settings of one file; none when it is missing.
func (l *loader) file(path string) error {
	entries, err := readEntries(path)
	if err != nil && !file.Missing(err) {
		return err
	}
	return l.add(entries)
}

// add adds settings, each include followed by what it names.
func (l *loader) add(entries []Entry) error {
	l.entries = slices.Grow(l.entries, len(entries))
	for _, e := range entries {
		l.entries = append(l.entries, e)
		if l.gather && strings.HasPrefix(e.Key, "remote.") && strings.HasSuffix(e.Key, ".url") {
			l.urls = append(l.urls, e.Value)
		}
		if err := l.include(e); err != nil {
			return err
		}
	}
	return nil
}

// include adds the file that e names, if e is an include that applies.
func (l *loader) include(e Entry) error {
	if e.Key != "include.path" {
		rest, isConditional := strings.CutPrefix(e.Key, "includeif.")
		condition, isPath := strings.CutSuffix(rest, ".path")
		if !isConditional || !isPath {
			return nil
		}
		if ok, err := l.holds(condition, e.Origin); !ok || err != nil {
			return err
		}
	}
	path, err := expand(e, l.env)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		if e.Origin == "" {
			return e.bad("an absolute path")
		}
		path = filepath.Join(filepath.Dir(e.Origin), path)
	}
	l.includes++
	l.depth++
	defer func() { l.depth-- }()
	if l.depth > maxDepth || l.includes > maxIncludes {
		return fmt.Errorf("%s includes %s: too many includes", e.Origin, path)
	}
	return l.file(path)
}

package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/file"
)

// Limits of includes. The depth is git's own. The number of files prevents a few files that include
// each other from taking forever.
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
	gather   bool     // this is a first pass, to collect urls
	pending  bool     // a condition needs urls
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

// readSettings reads one file without its includes.
func readSettings(path string) (*Config, error) {
	entries, err := readEntries(path)
	return &Config{entries: entries}, err
}

// readEntries returns the settings of one file without its includes. A missing file is empty.
func readEntries(path string) ([]Entry, error) {
	data, err := read(path, file.MaxText)
	if errors.Is(err, file.ErrNotRegular) || file.Missing(err) { // such as /dev/null
		return nil, nil
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
			continue // it may be in somebody else's home
		}
		if err != nil {
			return fmt.Errorf("read git configuration: %w", err)
		}
	}
	return l.environment()
}

// file adds the settings of one file.
func (l *loader) file(path string) error {
	entries, err := readEntries(path)
	if err != nil {
		return err
	}
	return l.add(entries)
}

// add adds settings, each include followed by the included ones.
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

// include adds the file that e includes, if e is an include and its condition holds.
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

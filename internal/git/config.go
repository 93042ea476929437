package git

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/proc"
)

// An Entry is one setting, in the order in which git applies them.
type Entry struct {
	Key      string // section and name in lower case, subsection as written
	Value    string
	Implicit bool // "name" alone, without "=": true as a boolean
}

// A Config is the whole configuration of a repository, or that of one file. Keys are like "core.autocrlf" or
// "filter.<driver>.clean"; only in the subsection does case matter. A Config does not change.
type Config struct {
	entries  []Entry
	workTree string
	environ  []string
}

// Config reads the configuration that git uses in the repository.
func (r *Repository) Config() (*Config, error) {
	out, err := ask(r.dir, r.environ, nil, "config", "--list", "-z")
	if err != nil {
		return nil, unreadable(r.dir, err)
	}
	c := &Config{entriesOf(string(out)), r.WorkTree, r.environ}
	last := len(c.entries) - 1 // which ask has added
	c.entries = c.entries[:max(last, 0)]
	return c, nil
}

// Parse reads the text of one configuration file, without its includes.
func Parse(text []byte) (*Config, error) {
	dir := string(filepath.Separator) // any that exists
	out, err := ask(dir, nil, text, "config", "--file", "-", "--no-includes", "--list", "-z")
	if err != nil {
		return nil, unreadable(dir, err)
	}
	return &Config{entries: entriesOf(string(out))}, nil
}

// A SyntaxError is a malformed configuration file, which git rejects.
type SyntaxError struct {
	File string // "" if git does not name it
	Says string
}

func (e *SyntaxError) Error() string {
	return "read the git configuration: git says " + strconv.Quote(e.Says)
}

// unreadable returns the error for a configuration that git, run in dir, has failed to read.
func unreadable(dir string, err error) error {
	exit, said := errors.AsType[*proc.ExitError](err)
	if !said {
		return fmt.Errorf("read the git configuration: %w", err)
	}
	says, _, _ := strings.Cut(strings.TrimPrefix(exit.Stderr, "fatal: "), "\n")
	_, file, named := strings.Cut(says, " in file ")
	if named && !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return &SyntaxError{file, says}
}

// entriesOf parses what `git config --list -z` prints.
func entriesOf(out string) (entries []Entry) {
	for one := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if key, value, set := strings.Cut(one, "\n"); key != "" {
			entries = append(entries, Entry{key, value, !set})
		}
	}
	return entries
}

// Entries returns all settings; later ones override earlier ones. The caller must not change them.
func (c *Config) Entries() []Entry { return c.entries }

// All returns all values of key, the effective one last.
func (c *Config) All(key string) []string {
	key = canonical(key)
	var values []string
	for _, e := range c.entries {
		if e.Key == key {
			values = append(values, e.Value)
		}
	}
	return values
}

// lookup returns the effective entry for key.
func (c *Config) lookup(key string) (Entry, bool) {
	key = canonical(key)
	for _, e := range slices.Backward(c.entries) {
		if e.Key == key {
			return e, true
		}
	}
	return Entry{}, false
}

// String returns the value of key, and whether it is set.
func (c *Config) String(key string) (value string, ok bool) {
	e, ok := c.lookup(key)
	return e.Value, ok
}

// Bool returns the value of key, parsed as git parses booleans, or def if it is not set.
func (c *Config) Bool(key string, def bool) (bool, error) {
	e, ok := c.lookup(key)
	if !ok || e.Implicit {
		return ok || def, nil
	}
	b, ok := parseBool(e.Value)
	if !ok {
		return def, e.bad("a boolean")
	}
	return b, nil
}

// Path returns the value of key with "~" and "~user" expanded, and whether it is set. A relative path is one from
// the root of the work tree.
func (c *Config) Path(key string) (path string, ok bool, err error) {
	e, ok := c.lookup(key)
	switch {
	case !ok:
		return "", false, nil
	case e.Implicit:
		return "", true, e.bad("a path")
	case e.Value == "":
		return "", true, nil
	}
	if path, err = expand(e, c.environ); err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(c.workTree, path)
	}
	return path, true, err
}

// ExcludesFile returns the path of the user's ignore rules, which need not exist, or "".
func (c *Config) ExcludesFile() (string, error) { return c.userFile("core.excludesFile", "ignore") }

// AttributesFiles returns where git looks for attributes outside the work tree, the repository's own aside. The files
// need not exist, and may be "".
func (c *Config) AttributesFiles() (system, users string, err error) {
	if no, _ := parseBool(proc.Getenv(c.environ, "GIT_ATTR_NOSYSTEM")); !no {
		system = systemFile(c.environ, "gitattributes")
	}
	users, err = c.userFile("core.attributesFile", "attributes")
	return system, users, err
}

// userFile returns the path in a setting, or else the default path of the user's file, "" without a home directory.
func (c *Config) userFile(key, name string) (string, error) {
	path, ok, err := c.Path(key)
	if err != nil || ok {
		return path, err
	}
	if dir := proc.Getenv(c.environ, "XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name), nil
	}
	if dir := home(c.environ); dir != "" {
		return filepath.Join(dir, ".config", "git", name), nil
	}
	return "", nil
}

// home returns the user's home directory, or "".
func home(environ []string) string {
	if dir := proc.Getenv(environ, "HOME"); dir != "" || os.PathSeparator == '/' {
		return dir
	}
	return proc.Getenv(environ, "USERPROFILE")
}

// systemFile returns the path of a file of the git installation, in the default location.
func systemFile(environ []string, name string) string {
	if os.PathSeparator == '/' {
		return filepath.Join("/etc", name)
	}
	if dir := proc.Getenv(environ, "ProgramFiles"); dir != "" {
		return filepath.Join(dir, "Git", "etc", name)
	}
	return ""
}

// bad returns the error for an invalid value.
func (e Entry) bad(want string) error {
	return fmt.Errorf("git configuration %s = %q is not %s", e.Key, e.Value, want)
}

// canonical returns a key in the case that entries use.
func canonical(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 || first == last {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// parseBool parses a boolean.
func parseBool(s string) (b, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return n != 0, err == nil
}

// expand returns the value of e as a path, with a leading "~" expanded.
func expand(e Entry, environ []string) (string, error) {
	rest, ok := strings.CutPrefix(e.Value, "~")
	if !ok {
		return e.Value, nil
	}
	name, rest, _ := strings.Cut(rest, "/")
	dir := home(environ)
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return "", fmt.Errorf("expand %s = %q: %w", e.Key, e.Value, err)
		}
		dir = u.HomeDir
	}
	return filepath.Join(cmp.Or(dir, "/"), rest), nil
}

package repo

import (
	"cmp"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An Entry is one setting, in the order in which git applies them.
type Entry struct {
	Key      string // section and name in lower case, subsection as written
	Value    string
	Implicit bool   // "name" alone, without "=": true as a boolean
	Origin   string // the file; "" for the environment
}

// A Config is the whole configuration of a repository. Keys are like "core.autocrlf" or
// "filter.<driver>.clean"; only in the subsection does case matter. A Config does not change.
type Config struct {
	entries []Entry
	env     Env
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

// Path returns the value of key with "~" and "~user" expanded, and whether it is set.
func (c *Config) Path(key string) (path string, ok bool, err error) {
	e, ok := c.lookup(key)
	if !ok {
		return "", false, nil
	}
	path, err = expand(e, c.env)
	return path, true, err
}

// bad returns the error for an invalid value.
func (e Entry) bad(want string) error {
	return fmt.Errorf("git configuration %s = %q in %s is not %s", e.Key, e.Value, cmp.Or(e.Origin, "the environment"), want)
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
	n, ok := parseInt(s)
	return n != 0, ok
}

// parseInt parses a number with an optional suffix. It reports false also on overflow.
func parseInt(s string) (n int64, ok bool) {
	unit := int64(1)
	if s != "" {
		if i := strings.IndexByte("kKmMgG", s[len(s)-1]); i >= 0 {
			unit, s = 1<<(10*(i/2+1)), s[:len(s)-1]
		}
	}
	if strings.Contains(s, "_") {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimLeft(s, " \t\n\r"), 0, 64)
	if err != nil || n*unit/unit != n {
		return 0, false
	}
	return n * unit, true
}

// expand returns the value of e as a path, with a leading "~" expanded. A relative path stays
// relative.
func expand(e Entry, env Env) (string, error) {
	if e.Implicit {
		return "", e.bad("a path")
	}
	rest, ok := strings.CutPrefix(e.Value, "~")
	if !ok {
		return e.Value, nil
	}
	name, rest, _ := strings.Cut(rest, "/")
	dir := home(env)
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return "", fmt.Errorf("expand %s = %q: %w", e.Key, e.Value, err)
		}
		dir = u.HomeDir
	}
	if dir == "" {
		return "", fmt.Errorf("expand %s = %q: no home directory", e.Key, e.Value)
	}
	return filepath.Join(dir, rest), nil
}

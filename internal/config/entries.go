package config

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"codeloops/internal/redact/secretname"
)

// An Entry is one key of the effective configuration.
type Entry struct {
	Key string `json:"key"`
	// Value is in the form of a file: durations and sizes are strings.
	Value  any    `json:"value"`
	Origin Origin `json:"origin"`
}

// String returns the entry as a line of a TOML file.
func (e Entry) String() string { return e.Key + " = " + tomlText(e.Value) }

// Entries returns every key with its effective value, in the order of the schema, then the
// user's own agents by name with the keys they set. Agents' variables with secret-looking
// names read "[redacted]".
func (c *Config) Entries() []Entry {
	all := c.entries()
	for i, e := range all {
		if e.Key == "queue.hub" {
			all[i].Value = hidden(e.Value.(string))
		}
		if table, name, ok := strings.Cut(e.Key, ".env."); ok && strings.HasPrefix(table, "agents.") && secretname.Is(strings.Trim(name, `"`)) {
			all[i].Value = "[redacted]"
		}
	}
	return all
}

// hidden replaces the passwords in an address of servers.
func hidden(address string) string {
	return regexp.MustCompile(`(^|//|,)[^/,@]*@`).ReplaceAllString(address, "${1}[redacted]@")
}

func (c *Config) entries() []Entry {
	var all []Entry
	rest := maps.Clone(c.values)
	add := func(key string) {
		if v, ok := rest[key]; ok {
			all = append(all, Entry{key, fileForm(v.is), v.origin})
			delete(rest, key)
		}
	}
	for _, known := range newSchema() {
		add(known.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(rest)) {
		add(key)
	}
	return all
}

// fileForm returns a value in the form of a file.
func fileForm(is any) any {
	switch v := is.(type) {
	case time.Duration:
		return formatDuration(v)
	case Size:
		return v.String()
	}
	return is
}

// tomlText returns a value, in its file form, as TOML.
func tomlText(is any) string {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(map[string]any{"x": is}); err != nil {
		return fmt.Sprintf("%q", is) // not for the types that values have
	}
	return strings.TrimSpace(strings.TrimPrefix(b.String(), "x = "))
}

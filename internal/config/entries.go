package config

import (
	"bytes"
	"cmp"
	"fmt"
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
	order := map[string]int{}
	for i, k := range schema() {
		order[k.Name] = i + 1
	}
	var all []Entry
	for key, v := range c.values {
		all = append(all, Entry{quotedKey(key), fileForm(v.is), v.origin})
	}
	place := func(e Entry) int { return cmp.Or(order[e.Key], len(order)+1) }
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(place(a)-place(b), cmp.Compare(a.Key, b.Key)) })
	return all
}

// quotedKey returns a key as a file spells it. Only the names of variables need quotes.
func quotedKey(key string) string { return toml.Key(split(key)).String() }

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

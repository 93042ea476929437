package scripted

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// A ParseError is what is wrong with a scenario, and where.
type ParseError struct {
	File    string
	Line    int // 0: the whole file
	Problem string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// A source is a scenario file that is being read.
type source struct {
	name  string
	lines map[string]int
	err   *ParseError // the first one in the file
}

// A table is one TOML table. It records which keys were read, because all others are
// unknown keys.
type table struct {
	*source
	path   string
	values map[string]any
	asked  []string
}

func newTable(name string, data []byte) (*table, *ParseError) {
	var values map[string]any
	if _, err := toml.Decode(string(data), &values); err != nil {
		e := &ParseError{File: name, Problem: err.Error()}
		if syntax, ok := errors.AsType[toml.ParseError](err); ok {
			e.Line, e.Problem = syntax.Position.Line, syntax.Message
		}
		return nil, e
	}
	return &table{source: &source{name: name, lines: lines(string(data))}, values: values}, nil
}

// failf notes what is wrong with a key, or with the table if it does not have the key.
func (t *table) failf(key, format string, args ...any) {
	line, ok := t.lines[join(t.path, key)]
	if !ok {
		line = t.lines[t.path]
	}
	if t.err == nil || line < t.err.Line {
		t.err = &ParseError{File: t.name, Line: line, Problem: fmt.Sprintf(format, args...)}
	}
}

func (t *table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// value reads a key. A value of another type is an error and reads as absent.
func value[T any](t *table, key, kind string) (v T, ok bool) {
	t.asked = append(t.asked, key)
	raw, present := t.values[key]
	if !present {
		return v, false
	}
	if v, ok = raw.(T); !ok {
		t.failf(key, "%s must be %s", key, kind)
	}
	return v, ok
}

func (t *table) text(key string) string {
	s, _ := value[string](t, key, "a string")
	return s
}

func (t *table) flag(key string, absent bool) bool {
	if v, ok := value[bool](t, key, "true or false"); ok {
		return v
	}
	return absent
}

func (t *table) number(key string, most int64) int {
	n, ok := value[int64](t, key, "a number")
	if ok && (n < 0 || n > most) {
		t.failf(key, "%s must be a number from 0 to %d", key, most)
		return 0
	}
	return int(n)
}

// decimal reads a number that is not below 0.
func (t *table) decimal(key string) float64 {
	t.asked = append(t.asked, key)
	var x float64
	switch v := t.values[key].(type) {
	case nil:
	case int64:
		x = float64(v)
	case float64:
		x = v
	default:
		x = -1
	}
	if !(x >= 0) || math.IsInf(x, 0) {
		t.failf(key, "%s must be a number that is not below 0", key)
		return 0
	}
	return x
}

// table reads a table inside this one.
func (t *table) table(key string) (*table, bool) {
	m, ok := value[map[string]any](t, key, "a table")
	return &table{source: t.source, path: join(t.path, key), values: m}, ok
}

// parsed reads a string that means something else; want says what it must be.
func parsed[T any](t *table, key, want string, parse func(string) (v T, ok bool)) (v T) {
	s, ok := value[string](t, key, "a string")
	if !ok {
		return v
	}
	if v, ok = parse(s); !ok {
		t.failf(key, "%s must be %s, not %q", key, want, s)
	}
	return v
}

// file reads a path inside the working directory, with slashes.
func (t *table) file(key string) string {
	return parsed(t, key, "a path inside the working directory", func(s string) (string, bool) {
		return s, filepath.IsLocal(filepath.FromSlash(s))
	})
}

func (t *table) duration(key string) time.Duration {
	return parsed(t, key, `a duration such as "50ms" or "2s"`, func(s string) (time.Duration, bool) {
		d, err := time.ParseDuration(s)
		return d, err == nil && d >= 0
	})
}

// mode reads permission bits, in octal.
func (t *table) mode(key string) uint32 {
	return parsed(t, key, `permission bits such as "755"`, func(s string) (uint32, bool) {
		m, err := strconv.ParseUint(s, 8, 9)
		return uint32(m), err == nil
	})
}

// size reads a number of bytes, in decimal units.
func (t *table) size(key string) int64 {
	return parsed(t, key, `a size such as "60MB"`, func(s string) (int64, bool) {
		digits, factor := strings.TrimSuffix(s, "B"), int64(1)
		if n := len(digits) - 1; n > 0 {
			if power := strings.IndexByte("KMG", digits[n]); power >= 0 {
				digits, factor = digits[:n], []int64{1e3, 1e6, 1e9}[power]
			}
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		return n * factor, err == nil && n >= 0 && n <= math.MaxInt64/factor
	})
}

func (t *table) texts(key string) []string {
	list, _ := value[[]any](t, key, "an array of strings")
	var out []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			t.failf(key, "%s must be an array of strings", key)
			return nil
		}
		out = append(out, s)
	}
	return out
}

// tables reads an array of tables, in either of TOML's two notations.
func (t *table) tables(key string) []*table {
	t.asked = append(t.asked, key)
	var list []any
	switch v := t.values[key].(type) {
	case nil:
	case []map[string]any:
		for _, m := range v {
			list = append(list, m)
		}
	case []any:
		list = v
	default:
		t.failf(key, "%s must be an array of tables", key)
	}
	var out []*table
	for i, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			t.failf(key, "%s must be an array of tables", key)
			return nil
		}
		path := fmt.Sprintf("%s[%d]", join(t.path, key), i)
		out = append(out, &table{source: t.source, path: path, values: m})
	}
	return out
}

// done reports unknown keys. what names the table.
func (t *table) done(what string) {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !slices.Contains(t.asked, key) {
			t.failf(key, "%s has no key %q; its keys are %s", what, key, strings.Join(t.asked, ", "))
		}
	}
}

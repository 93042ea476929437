package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"codeloops/internal/wording"
)

// A kind reads one kind of value, as it comes from TOML, or as a word or several from the command
// line or the environment. It returns the form that [Config] holds.
type kind func(raw any) (any, *fault)

// A fault is what is wrong with a value: the rest of a sentence that begins with the
// key's name.
type fault struct {
	problem string
	hint    string
	line    int // within a text of several lines, from 1; 0: the whole value
}

// A word is the text of a flag or an environment variable. It differs from string because "10" is a
// number there but not in a file.
type word string

// A scalar is a kind of value that a word can spell.
type scalar struct {
	what        string // as in "must be a number"
	types       string // that it may have in a file, by their typeName
	hint        string
	least, most float64
	never       bool // 0 is allowed below least, too
	parse       func(text string) (any, error)
}

func (s scalar) read(raw any) (any, *fault) {
	if _, isWord := raw.(word); !isWord && !strings.Contains(s.types, typeName(raw)) {
		return nil, &fault{problem: "must be " + s.what + ", not " + typeName(raw), hint: s.hint}
	}
	text := fmt.Sprint(raw)
	is, err := s.parse(text)
	if err != nil {
		return nil, &fault{problem: fmt.Sprintf("must be %s, not %q", s.what, short(text)), hint: s.hint}
	}
	bound := func(n float64) any {
		if _, isFloat := is.(float64); isFloat {
			return int64(n) // all of them are whole, and no exponent is shown
		}
		return fileForm(reflect.ValueOf(n).Convert(reflect.TypeOf(is)).Interface())
	}
	switch n := number(is); {
	case n < 0:
		return nil, &fault{problem: fmt.Sprintf("must not be negative, but is %v", fileForm(is))}
	case s.never && n > 0 && n < s.least:
		return nil, &fault{problem: fmt.Sprintf("must be at least %v, or 0 for never, but is %v", bound(s.least), fileForm(is))}
	case !s.never && n < s.least:
		return nil, &fault{problem: fmt.Sprintf("must be at least %v, but is %v", bound(s.least), fileForm(is))}
	case s.most > 0 && n > s.most:
		return nil, &fault{problem: fmt.Sprintf("must be at most %v, but is %v", bound(s.most), fileForm(is)), hint: s.hint}
	}
	return is, nil
}

// scalars are the kinds of values other than texts: by the tag "is" for those that have one, and by type.
var scalars = sync.OnceValue(func() map[string]scalar { //nolint:gochecknoglobals // a table that never changes
	decimal := func(sign string) func(string) (any, error) {
		return func(text string) (any, error) {
			n, err := strconv.ParseFloat(strings.Trim(text, sign+" "), 64)
			if err == nil && math.IsNaN(n) {
				err = errors.New("not a number")
			}
			return n, err
		}
	}
	whole := scalar{what: "a whole number", types: "a number", most: math.MaxInt32, parse: func(text string) (any, error) { return strconv.Atoi(text) }}
	times := whole
	times.least, times.never = 2, true
	const numeric = "a number with a fraction, a string"
	return map[string]scalar{
		"int": whole, "times": times,
		"dollars": {what: "a number of US dollars", types: numeric, most: 1e9, hint: "write it like 2.50", parse: decimal("$")},
		"float64": {what: "a number from 0 to 1", types: numeric, most: 1, hint: "write it like 0.9", parse: decimal("")},
		"bool":    {what: "true or false", types: "a boolean", parse: func(text string) (any, error) { return strconv.ParseBool(text) }},
		"time.Duration": {what: "a duration", types: "a string", hint: `write it like "90s", "1h30m" or "2d"`, parse: func(text string) (any, error) {
			if d, err := time.ParseDuration(text); err == nil { // first, because a negative one has its own message
				return d, nil
			}
			return ParseDuration(text)
		}},
		"config.Size": {what: "a size", types: "a number, a string", hint: `write it like "512KiB", "256MiB" or "1GB"`, parse: func(text string) (any, error) { return parseSize(text) }},
		"quorum": {what: `"all", "majority" or a number from 1`, types: "a number, a string", parse: func(text string) (any, error) {
			if n, err := strconv.Atoi(text); text != "all" && text != "majority" && (err != nil || n < 1) {
				return nil, errors.New("no quorum")
			}
			return text, nil
		}},
	}
})

// number returns a value as a number, by which it can be compared; that of a text is 0.
func number(is any) float64 {
	switch v := reflect.ValueOf(is); {
	case is == true:
		return 1
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	}
	return 0
}

// text reads a string that passes check.
func text(check check) kind {
	return func(raw any) (any, *fault) {
		s, ok := raw.(string)
		if w, isWord := raw.(word); isWord {
			s, ok = string(w), true
		}
		if !ok {
			return nil, &fault{problem: "must be a string, not " + typeName(raw)}
		}
		return s, check.of(s)
	}
}

// list reads strings that each pass check.
func list(check check) kind {
	return func(raw any) (any, *fault) {
		given, ok := raw.([]string)
		mixed, isMixed := raw.([]any)
		if !ok && !isMixed {
			f := &fault{problem: "must be a list of strings, not " + typeName(raw)}
			if s, isText := raw.(string); isText {
				f.hint = fmt.Sprintf("write it in brackets: [%q]", short(s))
			}
			return nil, f
		}
		for i, item := range mixed {
			s, ok := item.(string)
			if !ok {
				return nil, &fault{problem: fmt.Sprintf("must be a list of strings, but item %d is %s", i+1, typeName(item))}
			}
			given = append(given, s)
		}
		for i, s := range given {
			f := check.of(s)
			if f != nil && len(given) > 1 {
				f.problem = fmt.Sprintf("has a bad item %d: it %s", i+1, f.problem)
			}
			if f != nil {
				return nil, f
			}
		}
		return append([]string{}, given...), nil
	}
}

// oneOf rejects everything but the names.
func oneOf(names ...string) check {
	return func(s string) *fault {
		if slices.Contains(names, s) {
			return nil
		}
		f := &fault{problem: fmt.Sprintf("must be %s, not %q", alternatives(names), short(s))}
		if best, ok := wording.Nearest(s, names); ok {
			f.hint = didYouMean(best)
		}
		return f
	}
}

// alternatives lists names as in: "a", "b" or "c".
func alternatives(names []string) string {
	text := fmt.Sprintf("%q", names)
	text = strings.ReplaceAll(text[1:len(text)-1], `" "`, `", "`)
	if i := strings.LastIndex(text, ", "); i > 0 {
		text = text[:i] + " or" + text[i+1:]
	}
	return text
}

// typeName names the type of a raw value in TOML's terms.
func typeName(raw any) string {
	switch raw.(type) {
	case string, word:
		return "a string"
	case int64:
		return "a number"
	case float64:
		return "a number with a fraction"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date or time"
	case []any, []string:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a list of tables"
}

// short cuts a value that is quoted in a message.
func short(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }

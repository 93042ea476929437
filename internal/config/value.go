package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/wording"
)

// A kind reads one kind of value, as it comes from TOML, from a flag, or as a word from
// the environment. It returns the form that [Config] holds.
type kind func(raw any) (any, *fault)

// A fault is what is wrong with a value: the rest of a sentence that begins with the
// key's name.
type fault struct {
	problem string
	hint    string
	line    int // within a text of several lines, from 1; 0: the whole value
}

// A word is the text of an environment variable. It differs from string because "10" is a
// number in a variable but not in a file.
type word string

// count reads a whole number.
func count(least int) kind { return countTo(least, math.MaxInt32) }

func countTo(least, most int) kind {
	return func(raw any) (any, *fault) {
		var n int64
		switch v := raw.(type) {
		case int64:
			n = v
		case int:
			n = int64(v)
		case word:
			parsed, err := strconv.ParseInt(string(v), 10, 64)
			if err != nil {
				return nil, &fault{problem: fmt.Sprintf("must be a whole number, not %q", short(string(v)))}
			}
			n = parsed
		default:
			return nil, &fault{problem: "must be a whole number, not " + typeName(raw)}
		}
		switch {
		case n < 0:
			return nil, &fault{problem: fmt.Sprintf("must not be negative, but is %d", n)}
		case n < int64(least):
			return nil, &fault{problem: fmt.Sprintf("must be at least %d, but is %d", least, n)}
		case n > int64(most):
			return nil, &fault{problem: fmt.Sprintf("must be at most %d, but is %d", most, n)}
		}
		return int(n), nil
	}
}

// A decimal is a kind of number that is not negative.
type decimal struct {
	what    string
	span    string // the valid range, in words
	most    float64
	sign    string // an optional prefix or suffix in text
	example string
}

func dollars() kind {
	return decimal{"a number of US dollars", "a number from 0 to a billion", 1e9, "$", "2.50"}.read
}

func percent() kind {
	return decimal{"a number of percent", "a number from 0", math.MaxFloat64, "%", "20"}.read
}

func fraction() kind {
	return decimal{"a number from 0 to 1", "a number from 0 to 1", 1, "", "0.9"}.read
}

func (d decimal) read(raw any) (any, *fault) {
	var n float64
	switch v := raw.(type) {
	case float64:
		n = v
	case int64:
		n = float64(v)
	default:
		s, ok := asText(raw)
		if !ok {
			return nil, &fault{problem: "must be " + d.what + ", not " + typeName(raw)}
		}
		var err error
		n, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(s, d.sign), d.sign)), 64)
		if err != nil {
			return nil, &fault{problem: fmt.Sprintf("must be %s, not %q", d.what, short(s)), hint: "write it like " + d.example}
		}
	}
	if n >= 0 && n <= d.most {
		return n, nil
	}
	f := &fault{problem: fmt.Sprintf("must be %s, but is %v", d.span, n)}
	if n > d.most {
		f.hint = "write it like " + d.example
	}
	return nil, f
}

// toggle reads a boolean.
func toggle(raw any) (any, *fault) {
	if b, ok := raw.(bool); ok {
		return b, nil
	}
	w, ok := raw.(word)
	if !ok {
		return nil, &fault{problem: "must be true or false, not " + typeName(raw)}
	}
	b, err := strconv.ParseBool(string(w))
	if err != nil {
		return nil, &fault{problem: fmt.Sprintf("must be true or false, not %q", short(string(w)))}
	}
	return b, nil
}

// text reads a string that passes check.
func text(check func(string) *fault) kind {
	return func(raw any) (any, *fault) {
		s, ok := asText(raw)
		if !ok {
			return nil, &fault{problem: "must be a string, not " + typeName(raw)}
		}
		if f := checkString(s, check); f != nil {
			return nil, f
		}
		return s, nil
	}
}

// choice reads one of the names.
func choice(names ...string) kind { return text(oneOf(names...)) }

// oneOf rejects everything but the names.
func oneOf(names ...string) func(string) *fault {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return func(s string) *fault {
		if slices.Contains(names, s) {
			return nil
		}
		f := &fault{problem: fmt.Sprintf("must be %s, not %q", alternatives(quoted), short(s))}
		if best, ok := wording.Nearest(s, names); ok {
			f.hint = didYouMean(best)
		}
		return f
	}
}

// duration reads "15m" or "2d" as [ParseDuration] does; 0 needs no unit.
func duration(raw any) (any, *fault) {
	const hint = `write it like "90s", "1h30m" or "2d"`
	if n, ok := raw.(int64); ok {
		return nil, &fault{
			problem: "must be a duration with a unit, not a bare number",
			hint:    fmt.Sprintf(`write it like "%ds" or "%dm"`, n, n),
		}
	}
	s, ok := asText(raw)
	if !ok {
		return nil, &fault{problem: "must be a duration, not " + typeName(raw), hint: hint}
	}
	d, err := time.ParseDuration(s) // first, because it accepts negative ones, which have their own message
	if err != nil {
		d, err = ParseDuration(s)
	}
	if err != nil {
		return nil, &fault{problem: fmt.Sprintf("must be a duration, not %q", short(s)), hint: hint}
	}
	if d < 0 {
		return nil, &fault{problem: "must not be negative, but is " + formatDuration(d)}
	}
	return d, nil
}

// formatDuration writes a duration with a single unit if possible, up to days. An hour is
// 60m, because that is how time limits of turns are usually written.
func formatDuration(d time.Duration) string {
	switch {
	case d == 0:
		return "0s"
	case d%(24*time.Hour) == 0:
		return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
	case d%time.Hour == 0 && d != time.Hour:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	case d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	}
	return d.String()
}

// size reads a number of bytes of at least the given one.
func size(least Size) kind {
	const hint = `write it like "512KiB", "256MiB" or "1GB"`
	return func(raw any) (any, *fault) {
		var n Size
		if bytes, ok := raw.(int64); ok {
			n = Size(bytes)
		} else if s, ok := asText(raw); ok {
			parsed, err := parseSize(s)
			if err != nil {
				return nil, &fault{problem: fmt.Sprintf("must be a size, not %q", short(s)), hint: hint}
			}
			n = parsed
		} else {
			return nil, &fault{problem: "must be a size, not " + typeName(raw), hint: hint}
		}
		switch {
		case n < 0:
			return nil, &fault{problem: fmt.Sprintf("must not be negative, but is %d", n)}
		case n < least:
			return nil, &fault{problem: fmt.Sprintf("must be at least %q, but is %q", least, n)}
		}
		return n, nil
	}
}

// list reads strings that each pass check.
func list(check func(string) *fault) kind {
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
			f := checkString(s, check)
			switch {
			case f != nil && len(given) == 1:
				return nil, f
			case f != nil:
				return nil, &fault{problem: fmt.Sprintf("has a bad item %d: it %s", i+1, f.problem), hint: f.hint}
			}
		}
		return append([]string{}, given...), nil
	}
}

func asText(raw any) (string, bool) {
	switch v := raw.(type) {
	case string:
		return v, true
	case word:
		return string(v), true
	}
	return "", false
}

// typeName names the type of a raw value in TOML's terms.
func typeName(raw any) string {
	switch raw.(type) {
	case string, word:
		return "a string"
	case int64, int:
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
	case []map[string]any:
		return "a list of tables"
	}
	return fmt.Sprintf("a %T", raw)
}

// short cuts a value that is quoted in a message.
func short(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

func alternatives(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }

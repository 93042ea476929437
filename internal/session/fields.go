package session

import (
	"math"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// fields is one JSON object that is being written (encoder) or read (decoder). Each type of
// line is described once, as calls of these methods, so that writing and reading cannot
// differ.
//
// A tag is the field's name, followed by ",omitempty" if the zero value is left out, or by
// ",null" if it is written as null. A field that is missing or null reads as zero.
type fields interface {
	// text is free text, of any bytes.
	text(tag string, p *string)
	// textUnless is free text that is left out if it equals other.
	textUnless(tag string, p *string, other string)
	// bulk is free text that may be very long. A lean decoder skips it, unless the object lacks
	// the field instead, which would tell the essentials ("": there is no such field); taken
	// reports whether the text was read.
	bulk(tag string, p *string, instead string) (taken bool)
	// texts is a list of free texts; an empty one reads as nil.
	texts(tag string, p *[]string)
	// value is anything that encoding/json can marshal from p and unmarshal into it.
	value(tag string, p any)
	// list is a list of objects: n when writing, any number when reading.
	list(tag string, n int, item func(i int, f fields))
	// object is an object that may be absent; it reports whether there is one.
	// When writing, present says so.
	object(tag string, present bool, inner func(fields)) bool
}

// splitTag returns the name and the option of a tag.
func splitTag(tag string) (name, option string) {
	name, option, _ = strings.Cut(tag, ",")
	return name, option
}

// list maps a slice to a list of objects. It never writes to the elements of *p: they belong
// to an event that others may be reading.
func list[T any](f fields, tag string, p *[]T, item func(fields, *T)) {
	var out []T
	f.list(tag, len(*p), func(i int, f fields) {
		var v T
		if i < len(*p) {
			v = (*p)[i]
		}
		item(f, &v)
		out = append(out, v)
	})
	*p = out
}

// optional maps an object that may be absent. It never writes to what *p points to.
func optional[T any](f fields, tag string, p **T, item func(fields, *T)) {
	var v T
	if *p != nil {
		v = **p
	}
	if f.object(tag, *p != nil, func(f fields) { item(f, &v) }) {
		*p = &v
	}
}

// word maps a word of a closed vocabulary. A word that this version does not know is kept as
// it is.
func word[T ~string](f fields, tag string, p *T) {
	s := string(*p)
	f.text(tag, &s)
	*p = T(s)
}

// fraction maps a number that may be missing. JSON has no NaN and no infinity: they count as
// missing.
func fraction(f fields, tag string, p **float64) {
	*p = finite(*p)
	f.value(tag, p)
}

func finite(p *float64) *float64 {
	if p == nil || math.IsNaN(*p) || math.IsInf(*p, 0) {
		return nil
	}
	return p
}

// moment is a time in RFC 3339, in UTC, with nine digits after the second so that times sort
// as text.
type moment time.Time

func (m moment) MarshalJSON() ([]byte, error) {
	return time.Time(m).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000000000Z"`), nil
}

func (m *moment) UnmarshalJSON(raw []byte) error {
	s := strings.Trim(string(raw), `"`)
	if s == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return errNotTime
	}
	*m = moment(t.UTC())
	return nil
}

// seconds is a duration as a decimal number of seconds, exact to the nanosecond.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	abs, sign := uint64(s), "" // wraps on purpose: the smallest int64 has no positive twin
	if s < 0 {
		abs, sign = -abs, "-"
	}
	frac := strconv.FormatUint(1e9+abs%1e9, 10)[1:]
	frac = frac[:1] + strings.TrimRight(frac[1:], "0")
	return []byte(sign + strconv.FormatUint(abs/1e9, 10) + "." + frac), nil
}

func (s *seconds) UnmarshalJSON(raw []byte) error {
	// ParseDuration is exact where a float is not, but knows no exponents.
	if d, err := time.ParseDuration(string(raw) + "s"); err == nil {
		*s = seconds(d)
		return nil
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.Abs(x) > math.MaxInt64/1e9 {
		return errNotSeconds
	}
	*s = seconds(math.Round(x * 1e9))
	return nil
}

func duration(f fields, tag string, p *time.Duration) {
	f.value(tag, (*seconds)(p))
}

// fileMode is a git file mode, as git writes it: "100644".
type fileMode uint32

func (m fileMode) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(m), 8)), nil
}

func (m *fileMode) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseUint(strings.Trim(string(raw), `"`), 8, 32)
	if err != nil {
		return errNotMode
	}
	*m = fileMode(n)
	return nil
}

// state is a [loop.State] by its name.
type state loop.State

func (s state) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, loop.State(s).String()), nil
}

func (s *state) UnmarshalJSON(raw []byte) error {
	parsed, ok := loop.ParseState(strings.Trim(string(raw), `"`))
	if !ok {
		return errNotState
	}
	*s = state(parsed)
	return nil
}

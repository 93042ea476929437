package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"codeloops/internal/loop"
)

var (
	errNotJSON    = errors.New("the line is not JSON")
	errCut        = errors.New("the JSON of the line is cut off")
	errNotObject  = errors.New("not a JSON object")
	errNoType     = errors.New("no type")
	errNotTime    = errors.New("want a time such as 2026-01-27T15:30:00Z")
	errNotBase64  = errors.New("want base64")
	errNotSeconds = errors.New("want a number of seconds")
	errNotMode    = errors.New("want a file mode in octal")
	errNotState   = errors.New("unknown state")
)

// torn says that a line which cannot be read was not written to its end.
func torn(err error) error {
	if errors.Is(err, errCut) {
		return ErrTorn
	}
	return fmt.Errorf("%w (%w)", ErrTorn, err)
}

// asWritten and asRead are how values are written that JSON has no type for.
var (
	asWritten = sync.OnceValue(func() *json.Marshalers { //nolint:gochecknoglobals // a table that never changes
		return json.JoinMarshalers(
			json.MarshalFunc(func(t time.Time) ([]byte, error) { return moment(t), nil }),
			json.MarshalFunc(func(d time.Duration) ([]byte, error) { return seconds(d), nil }),
			json.MarshalFunc(func(s loop.State) ([]byte, error) { return strconv.AppendQuote(nil, s.String()), nil }),
			json.MarshalFunc(func(mode uint32) ([]byte, error) { return fmt.Appendf(nil, `"%o"`, mode), nil }),
			json.MarshalToFunc(func(w *jsontext.Encoder, b loop.Basis) error {
				if b != "" {
					return errors.ErrUnsupported // it is a text like others
				}
				return w.WriteToken(jsontext.Null)
			}),
			json.MarshalToFunc(func(w *jsontext.Encoder, x float64) error {
				if !math.IsNaN(x) && !math.IsInf(x, 0) {
					return errors.ErrUnsupported
				}
				return w.WriteToken(jsontext.Null)
			}),
		)
	})
	asRead = sync.OnceValue(func() *json.Unmarshalers { //nolint:gochecknoglobals // likewise
		return json.JoinUnmarshalers(
			reading(parseMoment),
			reading(parseSeconds),
			reading(func(raw string) (loop.State, error) {
				s, ok := loop.ParseState(strings.Trim(raw, `"`))
				if !ok {
					return s, errNotState
				}
				return s, nil
			}),
			reading(func(raw string) (uint32, error) {
				mode, err := strconv.ParseUint(strings.Trim(raw, `"`), 8, 32)
				if err != nil {
					return 0, errNotMode
				}
				return uint32(mode), nil
			}),
		)
	})
)

// reading reads values of a type; one that is null is zero.
func reading[T any](parse func(raw string) (T, error)) *json.Unmarshalers {
	return json.UnmarshalFunc(func(raw []byte, p *T) (err error) {
		if string(raw) != "null" {
			*p, err = parse(string(raw))
		}
		return err
	})
}

// moment is a time in RFC 3339, in UTC, with nine digits after the second so that times sort
// as text.
func moment(t time.Time) []byte {
	return t.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000000000Z"`)
}

func parseMoment(raw string) (time.Time, error) {
	s := strings.Trim(raw, `"`)
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, errNotTime
	}
	return t.UTC(), nil
}

// seconds is a duration as a decimal number of seconds, exact to the nanosecond.
func seconds(d time.Duration) []byte {
	abs, sign := uint64(d), "" // wraps on purpose: the smallest int64 has no positive twin
	if d < 0 {
		abs, sign = -abs, "-"
	}
	frac := strconv.FormatUint(1e9+abs%1e9, 10)[1:]
	frac = frac[:1] + strings.TrimRight(frac[1:], "0")
	return []byte(sign + strconv.FormatUint(abs/1e9, 10) + "." + frac)
}

func parseSeconds(raw string) (time.Duration, error) {
	// ParseDuration is exact where a float is not, but knows no exponents.
	if d, err := time.ParseDuration(raw + "s"); err == nil {
		return d, nil
	}
	x, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.Abs(x) > math.MaxInt64/1e9 {
		return 0, errNotSeconds
	}
	return time.Duration(math.Round(x * 1e9)), nil
}

// marshal writes an object as a line. All control characters are escaped, those of C1 as well, so
// that printing a log does not send control sequences to the terminal.
func marshal(object any) []byte {
	line, err := json.Marshal(object, json.WithMarshalers(asWritten()))
	if err != nil { // a text is not UTF-8
		line = marshalExact(object)
	}
	return append(escapeC1(line), '\n')
}

func escapeC1(line []byte) []byte {
	var out []byte
	from := 0
	for i, b := range line {
		size := 0
		switch {
		case b == 0x7f:
			size = 1
		case b == 0xc2 && line[i+1] < 0xa0:
			size = 2
		default:
			continue
		}
		out = fmt.Appendf(append(out, line[from:i]...), `\u%04x`, line[i+size-1])
		from = i + size
	}
	if from == 0 {
		return line
	}
	return append(out, line[from:]...)
}

// unmarshal reads a line. Of two fields of the same name the last one counts, and bytes that are
// not UTF-8 are replaced. A field that is missing or null reads as zero.
func unmarshal(line []byte, object any) error {
	err := json.Unmarshal(line, object, json.WithUnmarshalers(asRead()), lax())
	if err == nil && bytes.Contains(line, []byte(exactSuffix+`":`)) {
		err = unmarshalExact(line, object)
	}
	return inWords(err)
}

func lax() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// inWords says what is wrong with a line.
func inWords(err error) error {
	_, syntax := errors.AsType[*jsontext.SyntacticError](err)
	wrong, field := errors.AsType[*json.SemanticError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case syntax:
		return errNotJSON
	case !field:
		return err
	case wrong.JSONPointer == "":
		return errNotObject
	}
	path := ""
	for name := range wrong.JSONPointer.Tokens() {
		if _, err := strconv.Atoi(name); err == nil {
			name = "[" + name + "]"
		} else if path != "" {
			name = "." + name
		}
		path += name
	}
	why := wrong.Err
	if have := wrong.JSONKind; why == nil && wrong.GoType != nil {
		why = fmt.Errorf("want %s, have %s", wrong.GoType.Kind(), have)
	}
	return fmt.Errorf("field %s: %w", path, why)
}

package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// exactSuffix marks the field that holds, in base64, the exact bytes of a text
// that is not UTF-8.
const exactSuffix = "_base64"

var (
	errNotJSON    = errors.New("the line is no JSON")
	errCut        = errors.New("the JSON of the line is cut off")
	errNotObject  = errors.New("not a JSON object")
	errNoType     = errors.New("no type")
	errNotTime    = errors.New("want a time such as 2026-01-27T15:30:00Z")
	errNotBase64  = errors.New("want base64")
	errNotSeconds = errors.New("want a number of seconds")
	errNotMode    = errors.New("want a file mode in octal")
	errNotState   = errors.New("unknown state")
)

// A care is how much of a line is read.
type care int

const (
	whole care = iota // all of it
	lean              // what is bulky is checked, and left out
)

// decoder reads the fields of one object. The first error stands, the rest of
// the fields are then of no interest.
type decoder struct {
	members []member
	split   *splitter
	care    care
	err     *error

	// Where the object stands, for errors: in a field of its parent, at an
	// index of it from 0 or, where that is no list, at -1.
	parent *decoder
	field  string
	index  int
}

// newDecoder splits an object into its fields, which alias it.
func newDecoder(object []byte, how care) (*decoder, error) {
	return new(room).decoder(object, how)
}

// A room is what decoders of objects use one after the other: each when the one
// before it is no longer of interest.
type room struct {
	members []member
	split   splitter
}

func (r *room) decoder(object []byte, how care) (*decoder, error) {
	var ok bool
	if r.members, ok = r.split.object(r.members[:0], object); ok {
		return &decoder{members: r.members, split: &r.split, care: how, err: new(error)}, nil
	}
	return nil, wrong(object)
}

// wrong says what is wrong with a text that is no JSON object.
func wrong(text []byte) error {
	bad, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(text, new(json.RawMessage)))
	switch {
	case !ok:
		return errNotObject
	case strings.HasPrefix(bad.Error(), "unexpected end"):
		return errCut
	}
	return errNotJSON
}

// torn is a line that was not written to its end, which is why it cannot be read.
func torn(err error) error {
	if errors.Is(err, errCut) {
		return ErrTorn
	}
	return fmt.Errorf("%w (%w)", ErrTorn, err)
}

// find returns the value of a field, nil when there is none. Of several the
// last one counts.
func (d *decoder) find(name string) []byte {
	for _, m := range slices.Backward(d.members) {
		if string(m.name) == name {
			return m.raw
		}
	}
	return nil
}

// findText returns the value of a field, and of the one with its exact bytes.
func (d *decoder) findText(name string) (raw, exact []byte) {
	for _, m := range d.members {
		rest, ok := bytes.CutPrefix(m.name, []byte(name))
		if !ok {
			continue
		}
		switch string(rest) {
		case "":
			raw = m.raw
		case exactSuffix:
			exact = m.raw
		}
	}
	return raw, exact
}

func (d *decoder) has(name string) bool { return d.find(name) != nil }

// read unmarshals a value into p; nil is no value.
func (d *decoder) read(name string, raw []byte, p any) {
	if raw == nil || string(raw) == "null" {
		return
	}
	if err := json.Unmarshal(raw, p); err != nil {
		d.fail(name, err)
	}
}

func (d *decoder) fail(name string, err error) {
	if *d.err != nil {
		return
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("want %s, have %s", wrong.Type, wrong.Value)
	} else if _, ok := errors.AsType[base64.CorruptInputError](err); ok {
		err = errNotBase64
	}
	*d.err = fmt.Errorf("field %s: %w", d.path()+name, err)
}

// path is what stands in front of a field's name.
func (d *decoder) path() string {
	switch {
	case d.parent == nil:
		return ""
	case d.index < 0:
		return d.parent.path() + d.field + "."
	}
	return fmt.Sprintf("%s%s[%d].", d.parent.path(), d.field, d.index)
}

// inner returns the decoder of an object in a field.
func (d *decoder) inner(members []member, field string, index int) *decoder {
	return &decoder{members: members, split: d.split, care: d.care, err: d.err, parent: d, field: field, index: index}
}

func (d *decoder) text(tag string, p *string) {
	name, _ := splitTag(tag)
	raw, exact := d.findText(name)
	switch {
	case exact != nil:
		var b []byte
		d.read(name+exactSuffix, exact, &b)
		*p = string(b)
	case len(raw) > 0 && raw[0] == '"':
		*p = string(unquoted(raw))
	default:
		d.read(name, raw, p)
	}
}

func (d *decoder) textUnless(tag string, p *string, other string) {
	*p = other
	d.text(tag, p)
}

func (d *decoder) bulk(tag string, p *string, instead string) bool {
	if d.care == whole || instead != "" && !d.has(instead) {
		d.text(tag, p)
		return true
	}
	name, _ := splitTag(tag)
	raw, exact := d.findText(name)
	if exact != nil || len(raw) > 0 && raw[0] != '"' {
		d.text(tag, new(string)) // says what is wrong with it
	}
	return false
}

func (d *decoder) texts(tag string, p *[]string) {
	name, _ := splitTag(tag)
	raw, exact := d.findText(name)
	*p = nil
	if exact != nil {
		var list [][]byte
		d.read(name+exactSuffix, exact, &list)
		for _, s := range list {
			*p = append(*p, string(s))
		}
		return
	}
	d.read(name, raw, p)
	if len(*p) == 0 {
		*p = nil
	}
}

func (d *decoder) value(tag string, p any) {
	name, _ := splitTag(tag)
	raw := d.find(name)
	if raw == nil || string(raw) == "null" {
		return
	}
	// What most fields are is read without encoding/json, which takes ten times
	// as long.
	switch p := p.(type) {
	case *int:
		if n, err := strconv.Atoi(string(raw)); err == nil {
			*p = n
			return
		}
	case *int64:
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			*p = n
			return
		}
	case *float64:
		if x, ok := number64(raw); ok {
			*p = x
			return
		}
	case **float64:
		if x, ok := number64(raw); ok {
			*p = &x
			return
		}
	case json.Unmarshaler:
		if err := p.UnmarshalJSON(raw); err != nil {
			d.fail(name, err)
		}
		return
	}
	d.read(name, raw, p)
}

// number64 reads a number, if that is what a value is.
func number64(raw []byte) (x float64, ok bool) {
	x, err := strconv.ParseFloat(string(raw), 64)
	return x, err == nil
}

func (d *decoder) list(tag string, _ int, item func(int, fields)) {
	name, _ := splitTag(tag)
	raw := d.find(name)
	wrong := func() { d.read(name, raw, new([]map[string]json.RawMessage)) }
	if len(raw) == 0 || raw[0] != '[' {
		wrong()
		return
	}
	for i, one := range d.split.array(raw) {
		members, ok := d.split.object(nil, one)
		if !ok && string(one) != "null" {
			wrong()
			return
		}
		item(i, d.inner(members, name, i))
	}
}

func (d *decoder) object(tag string, _ bool, inner func(fields)) bool {
	name, _ := splitTag(tag)
	raw := d.find(name)
	members, ok := d.split.object(nil, raw)
	if !ok {
		d.read(name, raw, new(map[string]json.RawMessage))
		return false
	}
	inner(d.inner(members, name, -1))
	return true
}

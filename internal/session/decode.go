package session

import (
	"encoding/json"
	"errors"
	"fmt"
)

// exactSuffix marks the field that holds, in base64, the exact bytes of a text
// that is not UTF-8.
const exactSuffix = "_base64"

var (
	errNotObject  = errors.New("not a JSON object")
	errNoType     = errors.New("no type")
	errNotSeconds = errors.New("want a number of seconds")
	errNotMode    = errors.New("want a file mode in octal")
	errNotState   = errors.New("unknown state")
)

// decoder reads the fields of one object. The first error stands, the rest of
// the fields are then of no interest.
type decoder struct {
	raw  map[string]json.RawMessage
	path string // in front of a field's name, in errors
	err  *error
}

// newDecoder splits an object into its fields.
func newDecoder(object []byte) (*decoder, error) {
	d := &decoder{err: new(error)}
	if err := json.Unmarshal(object, &d.raw); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, errNotObject
		}
		return nil, err
	}
	if d.raw == nil {
		return nil, errNotObject
	}
	return d, nil
}

func (d *decoder) has(name string) bool {
	_, ok := d.raw[name]
	return ok
}

// read unmarshals a field into p and reports whether there is such a field.
func (d *decoder) read(name string, p any) bool {
	raw, ok := d.raw[name]
	if !ok {
		return false
	}
	if err := json.Unmarshal(raw, p); err != nil {
		d.fail(name, err)
	}
	return true
}

func (d *decoder) fail(name string, err error) {
	if *d.err != nil {
		return
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("want %s, have %s", wrong.Type, wrong.Value)
	}
	*d.err = fmt.Errorf("field %s: %w", d.path+name, err)
}

func (d *decoder) text(tag string, p *string) {
	name, _ := splitTag(tag)
	var exact []byte
	if d.read(name+exactSuffix, &exact) {
		*p = string(exact)
		return
	}
	d.read(name, p)
}

func (d *decoder) textUnless(tag string, p *string, other string) {
	*p = other
	d.text(tag, p)
}

func (d *decoder) texts(tag string, p *[]string) {
	name, _ := splitTag(tag)
	*p = nil
	var exact [][]byte
	if d.read(name+exactSuffix, &exact) {
		for _, s := range exact {
			*p = append(*p, string(s))
		}
		return
	}
	d.read(name, p)
	if len(*p) == 0 {
		*p = nil
	}
}

func (d *decoder) value(tag string, p any) {
	name, _ := splitTag(tag)
	d.read(name, p)
}

func (d *decoder) list(tag string, _ int, item func(int, fields)) {
	name, _ := splitTag(tag)
	var items []map[string]json.RawMessage
	d.read(name, &items)
	for i, raw := range items {
		item(i, &decoder{raw: raw, path: fmt.Sprintf("%s%s[%d].", d.path, name, i), err: d.err})
	}
}

func (d *decoder) object(tag string, _ bool, inner func(fields)) bool {
	name, _ := splitTag(tag)
	var raw map[string]json.RawMessage
	d.read(name, &raw)
	if raw == nil {
		return false
	}
	inner(&decoder{raw: raw, path: d.path + name + ".", err: d.err})
	return true
}

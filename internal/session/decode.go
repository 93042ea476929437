package session

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exactSuffix marks the field that holds, in base64, the exact bytes of a text
// that is not UTF-8.
const exactSuffix = "_base64"

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

// A care is how much of a line is read.
type care bool

const (
	whole care = false // all of it
	lean  care = true  // bulky texts are checked, and left out
)

// A rawObject is a JSON object whose values are not decoded yet: of a line of
// 10 MB a reader often wants a few words.
type rawObject map[string]jsontext.Value

// decoder reads the fields of one object. Only the first error is kept.
type decoder struct {
	members rawObject
	care    care
	err     *error

	// Where the object is, for errors: in a field of its parent, at an index
	// from 0 in it or, where the field is not a list, -1.
	parent *decoder
	tag    string
	index  int
}

func newDecoder(text []byte, how care) (*decoder, error) {
	d := &decoder{care: how, err: new(error)}
	err := unmarshal(text, &d.members)
	_, syntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errCut
	case syntax:
		return nil, errNotJSON
	case d.members == nil:
		return nil, errNotObject
	}
	return d, nil
}

// unmarshal accepts what encoding/json accepts: of two fields of the same name the
// last one counts, and bytes that are not UTF-8 are replaced.
func unmarshal(text []byte, p any) error {
	return jsonv2.Unmarshal(text, p, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// torn says that a line which cannot be read was not written to its end.
func torn(err error) error {
	if errors.Is(err, errCut) {
		return ErrTorn
	}
	return fmt.Errorf("%w (%w)", ErrTorn, err)
}

func (d *decoder) has(name string) bool { return d.members[name] != nil }

// value unmarshals a field into p, unless it is missing or null.
func (d *decoder) value(tag string, p any) {
	name, _ := splitTag(tag)
	raw := d.members[name]
	if raw == nil || raw.Kind() == jsontext.KindNull || unmarshal(raw, p) == nil {
		return
	}
	if err := json.Unmarshal(raw, p); err != nil { // it says plainly what is wrong
		d.fail(name, err)
	}
}

func (d *decoder) fail(name string, err error) {
	if *d.err != nil {
		return
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("want %s, have %s", strings.ReplaceAll(wrong.Type.String(), "session.rawObject", "object"), wrong.Value)
	} else if _, ok := errors.AsType[base64.CorruptInputError](err); ok {
		err = errNotBase64
	}
	*d.err = fmt.Errorf("field %s: %w", d.path()+name, err)
}

// path is the prefix of a field's name in errors.
func (d *decoder) path() string {
	if d.parent == nil {
		return ""
	}
	field, _ := splitTag(d.tag)
	if d.index < 0 {
		return d.parent.path() + field + "."
	}
	return fmt.Sprintf("%s%s[%d].", d.parent.path(), field, d.index)
}

// inner returns the decoder of an object in a field.
func (d *decoder) inner(o rawObject, tag string, index int) *decoder {
	return &decoder{members: o, care: d.care, err: d.err, parent: d, tag: tag, index: index}
}

func (d *decoder) text(tag string, p *string) {
	name, _ := splitTag(tag)
	if d.has(name + exactSuffix) {
		var b []byte
		d.value(name+exactSuffix, &b)
		*p = string(b)
		return
	}
	if raw := d.members[name]; raw.Kind() == jsontext.KindString {
		if b, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw); err == nil { // as it is most often, and much faster
			*p = string(b)
			return
		}
	}
	d.value(name, p)
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
	if raw := d.members[name]; d.has(name+exactSuffix) || raw != nil && raw.Kind() != jsontext.KindString {
		d.text(tag, new(string)) // reports an error if there is one
	}
	return false
}

func (d *decoder) texts(tag string, p *[]string) {
	name, _ := splitTag(tag)
	*p = nil
	if d.has(name + exactSuffix) {
		var list [][]byte
		d.value(name+exactSuffix, &list)
		for _, s := range list {
			*p = append(*p, string(s))
		}
		return
	}
	d.value(name, p)
	if len(*p) == 0 {
		*p = nil
	}
}

func (d *decoder) list(tag string, _ int, item func(int, fields)) {
	var objects []rawObject
	d.value(tag, &objects)
	for i, o := range objects {
		item(i, d.inner(o, tag, i))
	}
}

func (d *decoder) object(tag string, _ bool, inner func(fields)) bool {
	var o rawObject
	if d.value(tag, &o); o == nil {
		return false
	}
	inner(d.inner(o, tag, -1))
	return true
}

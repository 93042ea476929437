package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"codeloops/internal/wording/hint"
)

// A document is a text of JSON, perhaps with comments. What is not changed in it stays as it is, byte by byte.
type document struct {
	all  hujson.Value
	top  *hujson.Object
	unit string // by which a level is indented; "" in a text of one line
}

// parse reads a text; one that is empty holds an object without members.
func parse(text []byte) (*document, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, hint.Add(err, "mend it, and try again")
	}
	top, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, hint.Add(errors.New("it holds no JSON object"), "mend it, and try again")
	}
	d := &document{all: v, top: top, unit: "  "}
	if len(top.Members) > 0 {
		before := top.Members[0].Name.BeforeExtra
		d.unit = string(before[bytes.LastIndexByte(before, '\n')+1:])
		if !bytes.ContainsRune(before, '\n') {
			d.unit = ""
		}
	}
	return d, nil
}

// text is the document as it is now, nil if nothing is left in it.
func (d *document) text() []byte {
	if len(d.top.Members) == 0 && d.top.AfterExtra.IsStandard() {
		return nil
	}
	return d.all.Pack()
}

// member returns the index of a member, -1 if there is none.
func member(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		literal, ok := m.Name.Value.(hujson.Literal)
		return ok && literal.String() == name
	})
}

// object returns the object that another one has under a name, nil if there is nothing.
func object(o *hujson.Object, name string) (*hujson.Object, error) {
	at := member(o, name)
	if at < 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	there, ok := o.Members[at].Value.Value.(*hujson.Object)
	if !ok {
		return nil, hint.Errorf("mend it, and try again", "%q is no JSON object there", name)
	}
	return there, nil
}

// array returns the array that an object has under a name, nil if there is nothing.
func array(o *hujson.Object, name string) (*hujson.Array, error) {
	at := member(o, name)
	if at < 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	there, ok := o.Members[at].Value.Value.(*hujson.Array)
	if !ok {
		return nil, hint.Errorf("mend it, and try again", "%q is no JSON array there", name)
	}
	return there, nil
}

// add adds a member to the end of an object, depth levels deep.
func (d *document) add(o *hujson.Object, name string, value hujson.ValueTrimmed, depth int) {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{Value: value}}
	if d.unit != "" {
		m.Value.BeforeExtra = hujson.Extra(" ")
	}
	var last *hujson.Value
	if n := len(o.Members); n > 0 {
		last = &o.Members[n-1].Value
	}
	d.place(&m.Name.BeforeExtra, &m.Value.AfterExtra, last, &o.AfterExtra, depth)
	o.Members = append(o.Members, m)
}

// push adds an element to the end of an array, depth levels deep.
func (d *document) push(a *hujson.Array, value hujson.ValueTrimmed, depth int) {
	v := hujson.Value{Value: value}
	var last *hujson.Value
	if n := len(a.Elements); n > 0 {
		last = &a.Elements[n-1]
	}
	d.place(&v.BeforeExtra, &v.AfterExtra, last, &a.AfterExtra, depth)
	a.Elements = append(a.Elements, v)
}

// place writes what is before and after a value behind the last one, nil if it is the first one, and before the end.
func (d *document) place(before, after *hujson.Extra, last *hujson.Value, end *hujson.Extra, depth int) {
	if d.unit != "" {
		*before = hujson.Extra("\n" + strings.Repeat(d.unit, depth))
	}
	switch {
	case last != nil:
		*after = slices.Clone(last.AfterExtra) // a comma at the end, or none
	case d.unit != "" && !bytes.ContainsRune(*end, '\n'):
		*end = hujson.Extra("\n" + strings.Repeat(d.unit, depth-1))
	}
}

// value returns a Go value, indented as the document is, depth levels deep.
func (d *document) value(of any, depth int) (hujson.ValueTrimmed, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if d.unit != "" {
		e.SetIndent(strings.Repeat(d.unit, depth), d.unit)
	}
	if err := e.Encode(of); err != nil {
		return nil, err
	}
	v, err := hujson.Parse(text.Bytes())
	return v.Value, err
}

// decode reads a value of a document. What is of another form is not read.
func decode(v hujson.Value, to any) {
	v = v.Clone()
	v.Standardize()
	_ = json.Unmarshal(v.Pack(), to)
}

// drop takes a member out of an object.
func drop(o *hujson.Object, at int) {
	o.Members = cut(o.Members, at, func(m *hujson.ObjectMember) *hujson.Extra { return &m.Value.AfterExtra })
}

// pull takes an element out of an array.
func pull(a *hujson.Array, at int) {
	a.Elements = cut(a.Elements, at, func(v *hujson.Value) *hujson.Extra { return &v.AfterExtra })
}

// cut removes one of all. If there is a comma after the last one, there is one afterwards.
func cut[T any](all []T, at int, after func(*T) *hujson.Extra) []T {
	comma := *after(&all[at])
	all = slices.Delete(all, at, at+1)
	if at > 0 && at == len(all) && comma != nil && *after(&all[at-1]) == nil {
		*after(&all[at-1]) = comma
	}
	return all
}

package session

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// encoder appends the fields of one object to buf. It writes strings itself: encoding/json
// would copy a diff of 50 MB twice more and escape < and >.
type encoder struct {
	buf []byte
}

func (w *encoder) open(bracket byte) { w.buf = append(w.buf, bracket) }

// key writes a field's name and what separates it from the field before.
func (w *encoder) key(name string) {
	w.comma()
	w.buf = appendString(w.buf, name)
	w.buf = append(w.buf, ':')
}

func (w *encoder) comma() {
	if last := w.buf[len(w.buf)-1]; last != '{' && last != '[' {
		w.buf = append(w.buf, ',')
	}
}

// skip handles a zero value: it writes null if the option says so, and reports whether the
// value needs no more.
func (w *encoder) skip(name, option string) bool {
	if option == "null" {
		w.key(name)
		w.buf = append(w.buf, "null"...)
	}
	return option != ""
}

func (w *encoder) text(tag string, p *string) {
	name, option := splitTag(tag)
	if *p == "" && w.skip(name, option) {
		return
	}
	w.key(name)
	w.buf = appendString(w.buf, *p)
	if !utf8.ValidString(*p) {
		w.key(name + exactSuffix)
		w.buf = appendBase64(w.buf, *p)
	}
}

func (w *encoder) textUnless(tag string, p *string, other string) {
	if *p != other {
		w.text(tag, p)
	}
}

func (w *encoder) bulk(tag string, p *string, _ string) bool {
	w.text(tag, p)
	return true
}

func (w *encoder) texts(tag string, p *[]string) {
	name, option := splitTag(tag)
	if len(*p) == 0 && w.skip(name, option) {
		return
	}
	w.strings(name, *p, appendString)
	for _, s := range *p {
		if !utf8.ValidString(s) {
			w.strings(name+exactSuffix, *p, appendBase64)
			return
		}
	}
}

func (w *encoder) strings(name string, list []string, appendTo func([]byte, string) []byte) {
	w.key(name)
	w.open('[')
	for _, s := range list {
		w.comma()
		w.buf = appendTo(w.buf, s)
	}
	w.buf = append(w.buf, ']')
}

func (w *encoder) value(tag string, p any) {
	name, option := splitTag(tag)
	if reflect.ValueOf(p).Elem().IsZero() && w.skip(name, option) {
		return
	}
	w.key(name)
	raw, _ := json.Marshal(p) // cannot fail: p is a number, a boolean or a type of this package
	w.buf = append(w.buf, raw...)
}

func (w *encoder) list(tag string, n int, item func(int, fields)) {
	name, option := splitTag(tag)
	if n == 0 && w.skip(name, option) {
		return
	}
	w.key(name)
	w.open('[')
	for i := range n {
		w.comma()
		w.open('{')
		item(i, w)
		w.buf = append(w.buf, '}')
	}
	w.buf = append(w.buf, ']')
}

func (w *encoder) object(tag string, present bool, inner func(fields)) bool {
	name, option := splitTag(tag)
	if !present && w.skip(name, option) {
		return false
	}
	w.key(name)
	w.open('{')
	inner(w)
	w.buf = append(w.buf, '}')
	return true
}

// appendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD. All control characters are escaped, those of C1 as well, so that
// printing a log does not send control sequences to the terminal.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < ' ' || 0x7f <= r && r < 0xa0:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

func appendBase64(b []byte, s string) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, []byte(s))
	return append(b, '"')
}

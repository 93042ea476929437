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

// begin writes a field's name, and reports whether the value follows: of a zero value, the option
// may leave out both, or say that it is null.
func (w *encoder) begin(tag string, zero bool) bool {
	name, option := splitTag(tag)
	if zero && option == "omitempty" {
		return false
	}
	w.key(name)
	if zero && option == "null" {
		w.buf = append(w.buf, "null"...)
		return false
	}
	return true
}

func (w *encoder) text(tag string, p *string) {
	if !w.begin(tag, *p == "") {
		return
	}
	w.buf = appendString(w.buf, *p)
	if !utf8.ValidString(*p) {
		name, _ := splitTag(tag)
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
	if !w.begin(tag, len(*p) == 0) {
		return
	}
	w.strings(*p, appendString)
	for _, s := range *p {
		if !utf8.ValidString(s) {
			name, _ := splitTag(tag)
			w.key(name + exactSuffix)
			w.strings(*p, appendBase64)
			return
		}
	}
}

func (w *encoder) strings(list []string, appendTo func([]byte, string) []byte) {
	w.open('[')
	for _, s := range list {
		w.comma()
		w.buf = appendTo(w.buf, s)
	}
	w.buf = append(w.buf, ']')
}

func (w *encoder) value(tag string, p any) {
	if w.begin(tag, reflect.ValueOf(p).Elem().IsZero()) {
		raw, _ := json.Marshal(p) // cannot fail: p is a number, a boolean or a type of this package
		w.buf = append(w.buf, raw...)
	}
}

func (w *encoder) list(tag string, n int, item func(int, fields)) {
	if !w.begin(tag, n == 0) {
		return
	}
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
	if !w.begin(tag, !present) {
		return false
	}
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

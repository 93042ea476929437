package session

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// A member is one field of a JSON object: its name, and its value as it
// stands, known to be well formed.
type member struct {
	name []byte
	raw  []byte
}

// maxDepth is how deep values may be nested, as in encoding/json.
const maxDepth = 10000

// A scanner goes over JSON text (RFC 8259) and refuses what is none, without
// decoding it: of a line of 10 MB a reader often wants a few words.
type scanner struct {
	text  []byte
	at    int
	depth int
	loose bool // the inside of long strings is not looked at
}

// longString is from how many bytes on a string is long.
const longString = 4 << 10

// splitObject returns the fields of a text that is one JSON object and nothing
// else, in order. They alias the text. A loose look finds where long strings
// end, not whether they are well formed: see wellFormed.
func splitObject(text []byte, loose bool) (members []member, ok bool) {
	members = make([]member, 0, min(32, 1+len(text)/16)) // as many as there may well be
	return appendMembers(members, text, loose)
}

// appendMembers is splitObject for members that there is room for.
func appendMembers(members []member, text []byte, loose bool) (_ []member, ok bool) {
	s := scanner{text: text, loose: loose}
	s.space()
	ok = s.peek() == '{' && s.object(func(name, raw []byte) {
		members = append(members, member{name, raw})
	})
	s.space()
	return members, ok && s.at == len(text)
}

// wellFormed reports whether a text is one JSON string.
func wellFormed(text []byte) bool {
	s := scanner{text: text}
	return s.str() && s.at == len(text)
}

// splitArray returns the elements of a JSON array that is known to be one.
func splitArray(text []byte, loose bool) (elements [][]byte) {
	s := scanner{text: text, loose: loose}
	s.array(func(raw []byte) { elements = append(elements, raw) })
	return elements
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// skip goes behind a byte, if that is the next one.
func (s *scanner) skip(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) value() bool {
	switch c := s.peek(); c {
	case '"':
		return s.str()
	case '{':
		return s.object(nil)
	case '[':
		return s.array(nil)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) word(word string) bool {
	if end := s.at + len(word); end <= len(s.text) && string(s.text[s.at:end]) == word {
		s.at = end
		return true
	}
	return false
}

func (s *scanner) number() bool {
	s.skip('-')
	if !s.skip('0') && !s.digits() {
		return false
	}
	if s.skip('.') && !s.digits() {
		return false
	}
	if s.skip('e') || s.skip('E') {
		if !s.skip('+') {
			s.skip('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at > from
}

// object hands the fields of an object to visit, unless that is nil.
func (s *scanner) object(visit func(name, raw []byte)) bool {
	return s.list('}', func() bool {
		name := s.at
		if s.peek() != '"' || !s.str() {
			return false
		}
		nameEnd := s.at
		s.space()
		if !s.skip(':') {
			return false
		}
		s.space()
		from := s.at
		if !s.value() {
			return false
		}
		if visit != nil {
			visit(plainName(s.text[name:nameEnd]), s.text[from:s.at])
		}
		return true
	})
}

// array hands the elements of an array to visit, unless that is nil.
func (s *scanner) array(visit func(raw []byte)) bool {
	return s.list(']', func() bool {
		from := s.at
		if !s.value() {
			return false
		}
		if visit != nil {
			visit(s.text[from:s.at])
		}
		return true
	})
}

// list goes over a bracket, items with commas between them, and the bracket
// that closes.
func (s *scanner) list(closing byte, item func() bool) bool {
	if s.depth++; s.depth > maxDepth {
		return false
	}
	s.at++
	s.space()
	for first := true; !s.skip(closing); first = false {
		if !first {
			if !s.skip(',') {
				return false
			}
			s.space()
		}
		if !item() {
			return false
		}
		s.space()
	}
	s.depth--
	return true
}

// str goes over a string, from quote to quote.
func (s *scanner) str() bool {
	at := s.at + 1
	for {
		at = special(s.text, at)
		if s.loose && at-s.at > longString {
			at = closingQuote(s.text, s.at+longString)
		}
		if at >= len(s.text) {
			return false
		}
		switch s.text[at] {
		case '"':
			s.at = at + 1
			return true
		case '\\':
			n := escapeLen(s.text[at:])
			if n == 0 {
				return false
			}
			at += n
		default:
			return false // a control character
		}
	}
}

// closingQuote returns the offset of the first quote from at on, which is in a
// string, that is not escaped.
func closingQuote(text []byte, at int) int {
	for {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			return len(text)
		}
		at += i
		slashes := at - len(bytes.TrimRight(text[:at], `\`))
		if slashes%2 == 0 {
			return at
		}
		at++
	}
}

// special returns the offset of the first byte from at on that ends a run of
// plain ones in a string: a quote, a backslash, a control character.
func special(text []byte, at int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	// Eight bytes at once, after Mycroft's test for a zero byte in a word: the
	// lowest bit that is set belongs to the first such byte.
	for ; at+8 <= len(text); at += 8 {
		w := binary.LittleEndian.Uint64(text[at:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		hit := (w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash
		if hit &= highs; hit != 0 {
			return at + bits.TrailingZeros64(hit)/8
		}
	}
	for ; at < len(text); at++ {
		if c := text[at]; c < ' ' || c == '"' || c == '\\' {
			return at
		}
	}
	return at
}

// escapeLen returns the length of the escape sequence that a text begins with,
// 0 when that is none.
func escapeLen(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) < 6 {
			return 0
		}
		for _, c := range text[2:6] {
			if unhex(c) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// plainName returns what a quoted name says.
func plainName(quoted []byte) []byte {
	inside := quoted[1 : len(quoted)-1]
	if special(inside, 0) == len(inside) && utf8.Valid(inside) {
		return inside
	}
	return []byte(unquoteString(quoted))
}

// unquoteString returns what a well formed JSON string says. It owns its
// memory.
func unquoteString(quoted []byte) string {
	inside := quoted[1 : len(quoted)-1]
	at := special(inside, 0)
	if at == len(inside) && utf8.Valid(inside) {
		return string(inside)
	}
	var b strings.Builder
	b.Grow(len(inside))
	from := 0
	for at < len(inside) {
		b.Write(inside[from:at])
		c, size := unescape(inside[at:])
		if size == 0 {
			return oddString(quoted)
		}
		b.WriteRune(c)
		from = at + size
		at = special(inside, from)
	}
	b.Write(inside[from:])
	if text := b.String(); utf8.ValidString(text) {
		return text
	}
	return oddString(quoted)
}

// unescape returns the character that an escape sequence stands for; size is 0
// for one half of a surrogate pair.
func unescape(text []byte) (c rune, size int) {
	switch text[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		for _, d := range text[2:6] {
			c = c<<4 | rune(unhex(d))
		}
		if 0xd800 <= c && c < 0xe000 {
			return 0, 0
		}
		return c, 6
	}
	return rune(text[1]), 2
}

// oddString leaves surrogates, and bytes that are not UTF-8, to encoding/json.
func oddString(quoted []byte) (text string) {
	_ = json.Unmarshal(quoted, &text) // well formed, so far as that goes
	return text
}

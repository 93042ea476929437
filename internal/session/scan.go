package session

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A member is one field of a JSON object: its name, and its value as it
// stands, known to be well formed.
type member struct {
	name []byte
	raw  []byte
}

// A splitter takes JSON texts apart, one after the other, without decoding
// them: of a line of 10 MB a reader often wants a few words. What it returns
// is part of the text.
type splitter struct {
	text   []byte
	buffer bytes.Buffer
	tokens jsontext.Decoder
}

func (s *splitter) reset(text []byte) {
	s.text, s.buffer = text, *bytes.NewBuffer(text)
	// As encoding/json does: a name may stand twice, and bytes that are not
	// UTF-8 are replaced.
	s.tokens.Reset(&s.buffer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// object appends the fields of a text that is one JSON object and nothing else,
// in order.
func (s *splitter) object(members []member, text []byte) (_ []member, ok bool) {
	s.reset(text)
	if first, err := s.tokens.ReadToken(); err != nil || first.Kind() != jsontext.KindBeginObject {
		return members, false
	}
	for s.tokens.PeekKind() == jsontext.KindString {
		name, err := s.value()
		if err != nil {
			return members, false
		}
		raw, err := s.value()
		if err != nil {
			return members, false
		}
		members = append(members, member{unquoted(name), raw})
	}
	if _, err := s.tokens.ReadToken(); err != nil { // a brace that closes, or what is wrong
		return members, false
	}
	_, err := s.tokens.ReadToken()
	return members, errors.Is(err, io.EOF)
}

// array returns the elements of a JSON array that is known to be one.
func (s *splitter) array(text []byte) (elements [][]byte) {
	s.reset(text)
	_, _ = s.tokens.ReadToken() // the bracket
	for one, err := s.value(); err == nil; one, err = s.value() {
		elements = append(elements, one)
	}
	return elements
}

// value returns the next value. What the decoder returns counts only until it
// reads on; the same bytes of the text stay.
func (s *splitter) value() ([]byte, error) {
	v, err := s.tokens.ReadValue()
	end := int(s.tokens.InputOffset())
	return s.text[end-len(v) : end], err
}

// unquoted returns what a well formed JSON string says, as part of it where it
// says just what stands there.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
		return quoted[1 : len(quoted)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // the error is that something was replaced
	return text
}

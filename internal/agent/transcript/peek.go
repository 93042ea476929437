package transcript

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	json "github.com/go-json-experiment/json/v1"
)

// A peeker tells of which type an event is, in one pass and without reading
// anything else of it. Most events are none that a dialect wants to know more
// of. The zero value is ready; it is not safe for concurrent use.
type peeker struct {
	object bytes.Buffer
	tokens jsontext.Decoder
	name   []byte
}

// kind returns the type of an event: the last member of that name, in letters
// of any case, as [decode] would have it. whole is false when the object is not
// JSON; kind is then the type as far as the object goes.
func (p *peeker) kind(object []byte) (kind string, whole bool) {
	p.object = *bytes.NewBuffer(object)
	p.tokens.Reset(&p.object, json.DefaultOptionsV1())
	if first, err := p.tokens.ReadToken(); err != nil || first.Kind() != jsontext.KindBeginObject {
		return "", false
	}
	for p.tokens.PeekKind() == jsontext.KindString {
		named, err := p.text()
		switch {
		case err != nil:
			return kind, false
		case bytes.EqualFold(named, []byte("type")) && p.tokens.PeekKind() == jsontext.KindString:
			var text []byte
			if text, err = p.text(); err == nil {
				kind = string(text)
			}
		default:
			err = p.tokens.SkipValue()
		}
		if err != nil {
			return kind, false
		}
	}
	if _, err := p.tokens.ReadToken(); err != nil {
		return kind, false
	}
	_, err := p.tokens.ReadToken()
	return kind, errors.Is(err, io.EOF)
}

// text reads a string, which is valid until the next one is read.
func (p *peeker) text() ([]byte, error) {
	quoted, err := p.tokens.ReadValue()
	if err != nil {
		return nil, err
	}
	p.name, _ = jsontext.AppendUnquote(p.name[:0], quoted) // it is a string; what of it is not UTF-8 is replaced
	return p.name, nil
}

// decode reads the fields of an object into v. Fields of another type than v
// wants are left alone. It reports whether the object is JSON.
func decode(object []byte, v any) bool {
	err := json.Unmarshal(object, v)
	if _, mismatch := errors.AsType[*json.UnmarshalTypeError](err); mismatch {
		return true
	}
	return err == nil
}

package transcript

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	json "github.com/go-json-experiment/json/v1"
)

// kindOf returns the type of an event without decoding the rest: the last member with
// that name, in any case, as [decode] would. If the object is not valid JSON, whole is
// false and kind is the type found before the error.
func kindOf(object []byte) (kind string, whole bool) {
	tokens := jsontext.NewDecoder(bytes.NewBuffer(object), json.DefaultOptionsV1())
	if first, err := tokens.ReadToken(); err != nil || first.Kind() != jsontext.KindBeginObject {
		return "", false
	}
	for tokens.PeekKind() == jsontext.KindString {
		name, err := tokens.ReadToken()
		switch {
		case err != nil:
		case strings.EqualFold(name.String(), "type") && tokens.PeekKind() == jsontext.KindString:
			var text jsontext.Token
			if text, err = tokens.ReadToken(); err == nil {
				kind = text.String()
			}
		default:
			err = tokens.SkipValue()
		}
		if err != nil {
			return kind, false
		}
	}
	if _, err := tokens.ReadToken(); err != nil {
		return kind, false
	}
	_, err := tokens.ReadToken()
	return kind, errors.Is(err, io.EOF)
}

// decode reads the fields of an object into v. Fields of another type than v wants are
// left alone. It reports whether the object is JSON.
func decode(object []byte, v any) bool {
	err := json.Unmarshal(object, v)
	if _, mismatch := errors.AsType[*json.UnmarshalTypeError](err); mismatch {
		return true
	}
	return err == nil
}

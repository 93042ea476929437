package transcript

import (
	"bytes"
	"errors"

	json "github.com/go-json-experiment/json/v1"
)

// kindOf returns the type of an event, "" for anything else.
func kindOf(line []byte) string {
	var e struct {
		Type string `json:"type"`
	}
	if !bytes.HasPrefix(line, []byte{'{'}) || !decode(line, &e) {
		return ""
	}
	return e.Type
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

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

// rpcKindOf returns the method of a JSON-RPC message, "result" or "error" for an answer, and "" for
// anything else.
func rpcKindOf(line []byte) string {
	var e struct {
		Version string          `json:"jsonrpc"`
		Method  string          `json:"method"`
		Error   json.RawMessage `json:"error"`
	}
	switch {
	case !bytes.HasPrefix(line, []byte{'{'}) || !decode(line, &e) || e.Version == "":
		return ""
	case e.Method != "":
		return e.Method
	case e.Error != nil:
		return "error"
	}
	return "result"
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

package strategy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"codeloops/internal/wording"
)

// A Schema is a JSON schema for payloads.
type Schema struct{ read *jsonschema.Resolved }

// ReadSchema reads a JSON schema. References are not allowed, not even to parts of the schema
// itself, because following circular ones would never end.
func ReadSchema(text string) (*Schema, error) {
	var is any
	if err := json.Unmarshal([]byte(text), &is); err != nil {
		return nil, err
	}
	if _, object := is.(map[string]any); !object {
		return nil, errors.New("it is not a JSON object")
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return nil, errors.New(wording.Line(err.Error()))
	}
	if err := checkSchema(reflect.ValueOf(&schema)); err != nil {
		return nil, err
	}
	read, err := schema.Resolve(nil)
	if err != nil {
		return nil, errors.New(wording.Line(err.Error()))
	}
	return &Schema{read}, nil
}

// checkSchema returns an error if a schema, or one within it, has a reference or an unknown type, both
// of which the library accepts. It inspects the parsed schema, because a word in the text may be
// a keyword or the name of a property.
func checkSchema(is reflect.Value) error {
	if s, ok := reflect.TypeAssert[*jsonschema.Schema](is); ok && s != nil {
		if s.Ref != "" || s.DynamicRef != "" {
			return errors.New("it has a reference, " + cmp.Or(s.Ref, s.DynamicRef))
		}
		known := []string{"", "array", "boolean", "integer", "null", "number", "object", "string"}
		for _, name := range append([]string{s.Type}, s.Types...) {
			if !slices.Contains(known, name) {
				return fmt.Errorf("there is no type %q", name)
			}
		}
		for _, field := range is.Elem().Fields() {
			if err := checkSchema(field); err != nil {
				return err
			}
		}
		return nil
	}
	if kind := is.Kind(); kind != reflect.Slice && kind != reflect.Map || is.Type().Elem() != reflect.TypeFor[*jsonschema.Schema]() {
		return nil
	}
	for _, one := range is.Seq2() {
		if err := checkSchema(one); err != nil {
			return err
		}
	}
	return nil
}

// check says what is wrong with a payload, "" for nothing. Without a schema any object is
// accepted.
func (s *Schema) check(payload string) string {
	var is any
	if err := json.Unmarshal([]byte(payload), &is); err != nil {
		return "the payload is not JSON: " + err.Error()
	}
	if s == nil {
		if _, object := is.(map[string]any); !object {
			return "the payload is not a JSON object"
		}
		return ""
	}
	if err := s.read.Validate(is); err != nil {
		said := strings.TrimPrefix(wording.Line(err.Error()), "validating root: ")
		return "the payload does not match the schema: " + said
	}
	return ""
}

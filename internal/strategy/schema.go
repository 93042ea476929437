package strategy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"codeloops/internal/wording"
)

// A Schema is a JSON schema that a payload is held to.
type Schema struct{ read *jsonschema.Resolved }

// ReadSchema reads a JSON schema. It refers to nothing, not even to parts of itself: whoever
// follows references that lead in a circle comes to no end.
func ReadSchema(text string) (*Schema, error) {
	var is any
	if err := json.Unmarshal([]byte(text), &is); err != nil {
		return nil, err
	}
	if _, object := is.(map[string]any); !object {
		return nil, errors.New("it is no JSON object")
	}
	if err := sound(is); err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return nil, errors.New(wording.Line(err.Error()))
	}
	read, err := schema.Resolve(nil)
	if err != nil {
		return nil, errors.New(wording.Line(err.Error()))
	}
	return &Schema{read}, nil
}

// sound returns an error where a schema holds a reference, or a type that there is not: the
// library takes both. What is in enum, const, default or examples is no schema.
func sound(schema any) error {
	switch s := schema.(type) {
	case []any:
		for _, part := range s {
			if err := sound(part); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, part := range s {
			switch key {
			case "$ref", "$dynamicRef", "$recursiveRef":
				return fmt.Errorf("it has a reference, %s", key)
			case "enum", "const", "default", "examples":
				continue
			case "type":
				if err := types(part); err != nil {
					return err
				}
			}
			if err := sound(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// types holds a type, or a list of them, to those that there are. Of another kind it is a
// property of that name.
func types(is any) error {
	list, ok := is.([]any)
	if !ok {
		list = []any{is}
	}
	known := []string{"array", "boolean", "integer", "null", "number", "object", "string"}
	for _, t := range list {
		if name, ok := t.(string); ok && !slices.Contains(known, name) {
			return fmt.Errorf("there is no type %q", name)
		}
	}
	return nil
}

// check returns what is wrong with a payload, "" for nothing. Without a schema it is any object.
func (s *Schema) check(payload string) string {
	var is any
	if err := json.Unmarshal([]byte(payload), &is); err != nil {
		return "what is handed over is no JSON: " + err.Error()
	}
	if s == nil {
		if _, object := is.(map[string]any); !object {
			return "what is handed over is no JSON object"
		}
		return ""
	}
	if err := s.read.Validate(is); err != nil {
		said := strings.TrimPrefix(wording.Line(err.Error()), "validating root: ")
		return "what is handed over is not what is accepted: " + said
	}
	return ""
}

package strategy_test

import (
	"strings"
	"testing"

	"codeloops/internal/strategy"
)

// TestReadSchema: a schema without references is accepted, whatever its properties are called; one
// with a reference anywhere is refused.
func TestReadSchema(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "", `{"type": "object", "required": ["a"], "properties": {"a": {"type": ["string", "null"]}}}`: "",
		`{"properties": {"enum": {"type": "string"}, "$ref": {"type": "string"}, "type": {"enum": ["objct"]}, "const": {}}}`: "",
		`{"enum": [{"$ref": "#"}], "const": {"$ref": "#"}, "default": {"type": "objct"}}`:                                    "",

		`{"$ref": "#"}`:                               "a reference, #",
		`{"$ref": "https://example.com/schema"}`:      "a reference, https",
		`{"$dynamicRef": "#a"}`:                       "a reference, #a",
		`{"properties": {"enum": {"$ref": "#"}}}`:     "a reference",
		`{"properties": {"default": {"$ref": "#"}}}`:  "a reference",
		`{"allOf": [{"not": {"$ref": "#"}}]}`:         "a reference",
		`{"items": [{"$ref": "#"}]}`:                  "a reference",
		`{"items": {"$ref": "#"}}`:                    "a reference",
		`{"dependencies": {"a": {"$ref": "#"}}}`:      "a reference",
		`{"patternProperties": {"a": {"$ref": "#"}}}`: "a reference",
		`{"if": true, "then": {"$ref": "#"}}`:         "a reference",
		`{"$defs": {"a": {"$ref": "#/$defs/a"}}}`:     "a reference",

		`{"type": "objct"}`:                              `there is no type "objct"`,
		`{"properties": {"enum": {"type": "objct"}}}`:    `there is no type "objct"`,
		`{"additionalProperties": {"type": ["strang"]}}`: `there is no type "strang"`,
		`[]`: "not a JSON object", `true`: "not a JSON object", `{`: "unexpected end",
	} {
		_, err := strategy.ReadSchema(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

package model

import (
	"encoding/json"
	"slices"
	"strings"
)

// A Tool is one that the agent offers.
type Tool struct {
	Namespace string // "" for most
	Name      string
	Input     Schema
}

// A Schema is the part of a JSON schema that is needed to fill in a tool's input.
type Schema struct {
	Type       json.RawMessage   `json:"type"` // a word, or a list of them
	Properties map[string]Schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	AnyOf      []Schema          `json:"anyOf"`
}

// A Call is a tool call.
type Call struct {
	Namespace string
	Tool      string
	Input     map[string]any
}

// Write returns a call of the agent's own tool for writing files; ok is false if it offers
// none.
func (r Request) Write(path, text string) (call Call, ok bool) {
	t, ok := r.offered("Write", "write", "write_file", "write_to_file", "Create", "create", "editor")
	if !ok {
		return Call{}, false
	}
	return t.call(
		value{[]string{"file_path", "filePath", "filepath", "path"}, path},
		value{[]string{"content", "file_text", "new_text"}, text},
	)
}

// Run returns a call of the agent's shell; ok is false if it offers none.
func (r Request) Run(command string) (call Call, ok bool) {
	t, ok := r.offered("Bash", "bash", "run_shell_command", "Execute", "exec_command", "run_commands")
	if !ok {
		return Call{}, false
	}
	return t.call(value{[]string{"command", "cmd", "commands"}, command})
}

// offered returns the tool with the first of the names that is offered: the agents name
// similar tools differently.
func (r Request) offered(names ...string) (Tool, bool) {
	for _, name := range names {
		if i := slices.IndexFunc(r.Tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
			return r.Tools[i], true
		}
	}
	return Tool{}, false
}

// A value is for the property with the first of the names that exists.
type value struct {
	names []string
	text  string
}

// call fills in a tool's input. Other required properties get any value of their type.
func (t Tool) call(values ...value) (Call, bool) {
	input := map[string]any{}
	for _, v := range values {
		i := slices.IndexFunc(v.names, func(name string) bool { _, ok := t.Input.Properties[name]; return ok })
		if i < 0 {
			return Call{}, false
		}
		name := v.names[i]
		input[name] = v.text
		if t.Input.Properties[name].is("array") {
			input[name] = []string{v.text}
		}
	}
	for _, name := range t.Input.Required {
		if _, set := input[name]; !set {
			input[name] = t.Input.Properties[name].any()
		}
	}
	return Call{t.Namespace, t.Name, input}, true
}

// is reports whether a value may be of a type.
func (s Schema) is(kind string) bool {
	var one string
	var list []string
	if json.Unmarshal(s.Type, &one) == nil {
		list = []string{one}
	} else {
		_ = json.Unmarshal(s.Type, &list) // no type at all is any type
	}
	return slices.ContainsFunc(list, func(t string) bool { return strings.EqualFold(t, kind) }) ||
		slices.ContainsFunc(s.AnyOf, func(s Schema) bool { return s.is(kind) })
}

// any returns some value that the schema accepts.
func (s Schema) any() any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.is("string"):
		return "scripted"
	case s.is("boolean"):
		return false
	case s.is("integer"), s.is("number"):
		return 1
	case s.is("array"):
		return []any{}
	case s.is("object"):
		return map[string]any{}
	}
	return nil
}

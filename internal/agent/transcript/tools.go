package transcript

import (
	"cmp"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"codeloops/internal/loop"
)

// An input holds the arguments of a tool.
type input struct {
	arguments
	edits []arguments // of a tool that makes several changes
}

// UnmarshalJSON never fails.
func (i *input) UnmarshalJSON(raw []byte) error {
	var several struct {
		Edits []arguments `json:"edits"`
	}
	decode(raw, &i.arguments)
	decode(raw, &several)
	i.edits = several.Edits
	return nil
}

// arguments are texts by their names.
type arguments map[string]loose

// first returns the first argument that is not empty. Each CLI has its own name for the same thing.
func (a arguments) first(names ...string) string {
	for _, name := range names {
		if a[name] != "" {
			return string(a[name])
		}
	}
	return ""
}

// A loose text reads the forms in which CLIs write the same thing: a string, a list of
// strings, which it joins with spaces, or an object with a message. Anything else reads as
// "".
type loose string

// UnmarshalJSON never fails.
func (l *loose) UnmarshalJSON(raw []byte) error {
	*l = ""
	switch raw[0] {
	case '"':
		decode(raw, (*string)(l))
	case '[':
		var list []string
		if json.Unmarshal(raw, &list) == nil {
			*l = loose(strings.Join(list, " "))
		}
	case '{':
		var object struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(raw, &object) == nil {
			*l = loose(object.Message)
		}
	}
	return nil
}

// editing lists the tools that change files, in lower case.
func editing() []string {
	return []string{
		"apply_patch", "applypatch", "create", "edit", "edit_file", "editor", "multiedit", "notebook_edit", "notebookedit",
		"patch", "replace", "str_replace", "str_replace_editor", "write", "write_file", "write_to_file",
	}
}

// purpose completes "it was not allowed to".
func purpose(tool string, in input) string {
	path, command := in.first("file_path", "filePath", "notebook_path", "path"), in.first("command", "cmd", "commands")
	switch {
	case command != "":
		return "run `" + Line(command) + "`"
	case path != "" && slices.Contains(editing(), strings.ToLower(tool)):
		return "change " + Line(path)
	}
	return "use " + Line(tool)
}

// denied takes what the agent was not allowed to do. If nothing comes of the turn, that is
// why.
func (r *record) denied(purpose string) {
	r.cope("it was not allowed to " + purpose)
	if r.refused == "" {
		r.refused = r.problem
	}
}

// tool reports the use of a tool.
func (r *record) tool(name string, in input) {
	r.gotOver()
	path, command := in.first("file_path", "filePath", "notebook_path", "path"), in.first("command", "cmd", "commands")
	switch {
	case slices.Contains(editing(), strings.ToLower(name)):
		added, removed := in.lines()
		r.tell(loop.Notice{Kind: loop.NoticeEdit, Text: cmp.Or(path, name), Added: added, Removed: removed})
	case command != "":
		r.notice(loop.NoticeCommand, command)
	default:
		r.notice(loop.NoticeTool, name+" "+cmp.Or(path, in.first("pattern", "query", "url", "description")))
	}
}

package transcript

import (
	"cmp"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"codeloops/internal/loop"
)

// An input holds those arguments of a tool that are worth showing, under the names that
// the CLIs use.
type input struct {
	Command      loose `json:"command"`
	Cmd          loose `json:"cmd"`
	Commands     loose `json:"commands"`
	FilePath     loose `json:"file_path"`
	FilePathToo  loose `json:"filePath"`
	NotebookPath loose `json:"notebook_path"`
	Path         loose `json:"path"`
	Pattern      loose `json:"pattern"`
	Query        loose `json:"query"`
	URL          loose `json:"url"`
	Description  loose `json:"description"`

	edits
}

func (i input) command() string { return string(cmp.Or(i.Command, i.Cmd, i.Commands)) }

func (i input) path() string {
	return string(cmp.Or(i.FilePath, i.FilePathToo, i.NotebookPath, i.Path))
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

// tool reports the use of a tool.
func (r *record) tool(name string, in input) {
	r.gotOver()
	switch path, command := in.path(), in.command(); {
	case slices.Contains(editing(), strings.ToLower(name)):
		added, removed := in.lines()
		r.tell(loop.Notice{Kind: loop.NoticeEdit, Text: cmp.Or(path, name), Added: added, Removed: removed})
	case command != "":
		r.notice(loop.NoticeCommand, command)
	default:
		r.notice(loop.NoticeTool, name+" "+cmp.Or(path, string(cmp.Or(in.Pattern, in.Query, in.URL, in.Description))))
	}
}

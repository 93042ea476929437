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
	Command      words `json:"command"`
	Cmd          words `json:"cmd"`
	Commands     words `json:"commands"`
	FilePath     words `json:"file_path"`
	FilePathToo  words `json:"filePath"`
	NotebookPath words `json:"notebook_path"`
	Path         words `json:"path"`
	Pattern      words `json:"pattern"`
	Query        words `json:"query"`
	URL          words `json:"url"`
	Description  words `json:"description"`

	edits
}

func (i input) command() string { return string(cmp.Or(i.Command, i.Cmd, i.Commands)) }

func (i input) path() string {
	return string(cmp.Or(i.FilePath, i.FilePathToo, i.NotebookPath, i.Path))
}

// words are a string, or a list of strings joined with spaces; anything else reads as "".
type words string

// UnmarshalJSON never fails.
func (w *words) UnmarshalJSON(raw []byte) error {
	*w = ""
	switch raw[0] {
	case '"':
		var one string
		decode(raw, &one)
		*w = words(one)
	case '[':
		var list []string
		if json.Unmarshal(raw, &list) == nil {
			*w = words(strings.Join(list, " "))
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

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

// longestPurpose bounds a purpose, in bytes.
const longestPurpose = 300

// purpose completes "it was not allowed to".
func purpose(tool string, in input) string {
	path, command := in.first("file_path", "filePath", "notebook_path", "path"), in.first("command", "cmd", "commands")
	switch {
	case command != "":
		return "run `" + line(command, longestPurpose) + "`"
	case path != "" && slices.Contains(editing(), strings.ToLower(tool)):
		return "change " + line(path, longestPurpose)
	}
	return "use " + line(tool, longestPurpose)
}

// maxFailures bounds [Report.Failures].
const maxFailures = 16

// call notes what a call of a tool is for, to be read when its result comes.
func (r *record) call(id, name string, in input) {
	if id != "" {
		r.calls[id] = purpose(name, in)
	}
}

// done takes the result of a call: whether it is an error, the exit code of a command, or that
// it was denied.
func (r *record) done(id string, failed bool, exit int, denied bool) {
	act, known := r.calls[id]
	delete(r.calls, id)
	switch {
	case failed && exit == 0 && !denied: // no command, or it was not started
		r.used(true)
	case known || denied:
		r.ends(loop.Failure{Act: cmp.Or(act, "use a tool"), ExitCode: exit, Denied: denied})
	}
}

// used takes whether a tool failed, or was denied.
func (r *record) used(failed bool) { r.tried, r.worked = true, r.worked || !failed }

// ends takes how a command, or an attempt to do something, ended. Only the last end of the
// same one counts.
func (r *record) ends(f loop.Failure) {
	r.used(f.Denied || f.ExitCode != 0)
	if f.Denied {
		r.cope("it was not allowed to " + f.Act)
	}
	all := slices.DeleteFunc(r.report.Failures, func(o loop.Failure) bool { return o.Act == f.Act })
	if f.Denied || f.ExitCode != 0 {
		all = append(all, f)
	}
	r.report.Failures = all[max(0, len(all)-maxFailures):]
}

// tool reports the use of a tool.
func (r *record) tool(name string, in input) {
	r.gotOver()
	r.spins = 0
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

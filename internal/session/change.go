package session

import (
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// gitHeader begins the part of a diff that is about one file.
const gitHeader = "diff --git "

// change is a work tree's change, except the text of its patches.
func change(f fields, c *loop.Change, file func(fields, *loop.FileChange), unshown func(fields, *loop.Unshown)) {
	count := c.Shape().Files // a file that changed its type is one, as git counts
	f.value("git_files_changed", &count)
	f.value("insertions,omitempty", &c.Insertions)
	f.value("deletions,omitempty", &c.Deletions)
	f.text("state,omitempty", &c.State)
	f.text("checkpoint,omitempty", &c.Checkpoint)
	list(f, "files,omitempty", &c.Files, file)
	list(f, "unshown,omitempty", &c.Unshown, unshown)
	f.texts("warnings,omitempty", &c.Warnings)
}

// unshownStat is what no patch shows, except its text.
func unshownStat(f fields, u *loop.Unshown) {
	f.text("path", &u.Path)
	word(f, "why", &u.Why)
	word(f, "status", &u.Status)
	f.text("via,omitempty", &u.Via)
	f.value("files,omitempty", &u.Files)
}

func unshownText(f fields, u *loop.Unshown) {
	unshownStat(f, u)
	f.bulk("text,omitempty", &u.Text, "")
}

func fileStat(f fields, c *loop.FileChange) {
	f.text("path", &c.Path)
	f.text("old_path,omitempty", &c.OldPath)
	word(f, "status", &c.Status)
	f.value("old_mode,omitempty", (*fileMode)(&c.OldMode))
	f.value("new_mode,omitempty", (*fileMode)(&c.NewMode))
	f.value("old_size,omitempty", &c.OldSize)
	f.value("new_size,omitempty", &c.NewSize)
	f.value("binary,omitempty", &c.Binary)
	f.value("insertions,omitempty", &c.Insertions)
	f.value("deletions,omitempty", &c.Deletions)
}

// patches is a change with the text of its patches. They are concatenated in git_diff, as `git
// apply` takes them; each file has the number of its bytes there. A file whose content is in
// git_diff as a binary patch keeps its short patch itself.
func patches(f fields, c *loop.Change) {
	text := c.ApplicablePatch()
	taken := f.bulk("git_diff", &text, "files")
	left, split := text, true
	change(f, c, func(f fields, file *loop.FileChange) {
		fileStat(f, file)
		textual, binary := len(file.Patch), 0
		if file.BinaryPatch != "" {
			textual, binary = 0, len(file.BinaryPatch)
		}
		f.value("diff_bytes,omitempty", &textual)
		f.value("binary_diff_bytes,omitempty", &binary)
		if binary > 0 {
			f.bulk("patch,omitempty", &file.Patch, "")
		}
		if !taken {
			return
		}
		if binary > 0 {
			file.BinaryPatch, left, split = take(left, binary, split)
			return
		}
		file.Patch, left, split = take(left, textual, split)
	}, unshownText)
	if taken && (!split || left != "") {
		// The log is not ours, or was edited.
		c.Files = splitPatch(text)
		*c = c.Counted()
	}
}

// take cuts n bytes off text. still is ok, or false if there are not as many.
func take(text string, n int, ok bool) (head, rest string, still bool) {
	if !ok || n < 0 || n > len(text) {
		return "", text, false
	}
	return text[:n], text[n:], true
}

// splitPatch rebuilds the files of a change from its diff alone. A line of a diff that begins
// with "diff --git " is a header: lines of content begin with a space, a plus, a minus or a
// backslash.
func splitPatch(diff string) []loop.FileChange {
	var files []loop.FileChange
	for diff != "" {
		end := len(diff)
		if next := strings.Index(diff, "\n"+gitHeader); next >= 0 {
			end = next + 1
		}
		files = append(files, fileOfPatch(diff[:end]))
		diff = diff[end:]
	}
	return files
}

// fileOfPatch reads what one file's part of a diff says about the file.
func fileOfPatch(patch string) loop.FileChange {
	file := loop.FileChange{Status: loop.FileModified, Patch: patch}
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "@@ ") {
			break
		}
		headerLine(&file, strings.TrimSuffix(line, "\n"))
	}
	for l := range loop.PatchLines(patch) {
		switch l.Op {
		case '+':
			file.Insertions++
		case '-':
			file.Deletions++
		}
	}
	return file
}

func headerLine(file *loop.FileChange, line string) {
	switch {
	case strings.HasPrefix(line, gitHeader):
		// In `a/path b/path` both are the same unless the file was renamed, which a later line says. A copy does not
		// keep the diff in memory.
		names := line[len(gitHeader):]
		file.Path = strings.Clone(strings.TrimPrefix(unquote(names[:len(names)/2]), "a/"))
	case strings.HasPrefix(line, "new file mode "):
		file.Status = loop.FileAdded
	case strings.HasPrefix(line, "deleted file mode "):
		file.Status = loop.FileDeleted
	case strings.HasPrefix(line, "Binary files "), line == "GIT binary patch":
		file.Binary = true
	case strings.HasPrefix(line, "rename from "):
		file.Status = loop.FileRenamed
		file.OldPath = strings.Clone(unquote(line[len("rename from "):]))
	case strings.HasPrefix(line, "rename to "):
		file.Path = strings.Clone(unquote(line[len("rename to "):]))
	}
}

// unquote returns a path without git's quoting. Git writes odd paths as C strings, whose
// escapes are among Go's.
func unquote(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}

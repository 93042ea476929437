package session

import (
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// gitHeader begins the part of a diff that is about one file.
const gitHeader = "diff --git "

// A stat is a work tree's change, except the text of its patches.
type stat struct {
	Count      int            `json:"git_files_changed"`
	Insertions int            `json:"insertions,omitzero"`
	Deletions  int            `json:"deletions,omitzero"`
	State      string         `json:"state,omitzero"`
	Checkpoint string         `json:"checkpoint,omitzero"`
	Files      []changed      `json:"files,omitempty"`
	Unshown    []loop.Unshown `json:"unshown,omitempty"`
	Warnings   []string       `json:"warnings,omitempty"`
}

// A changed is a file of a change. In an iteration it has the number of the bytes of its patch, or
// of its binary patch, and the short patch of a file with a binary one.
type changed struct {
	loop.FileChange
	Bytes       int    `json:"diff_bytes,omitzero"`
	BinaryBytes int    `json:"binary_diff_bytes,omitzero"`
	Short       string `json:"patch,omitzero"`
}

func statOf(c loop.Change) stat {
	return stat{
		Count:      c.Shape().Files, // a file that changed its type is one, as git counts
		Insertions: c.Insertions, Deletions: c.Deletions, State: c.State, Checkpoint: c.Checkpoint,
		Files:   each(c.Files, func(f loop.FileChange) changed { return changed{FileChange: f} }),
		Unshown: each(c.Unshown, func(u loop.Unshown) loop.Unshown { u.Text = ""; return u }), Warnings: c.Warnings,
	}
}

func (s stat) change() loop.Change {
	return loop.Change{
		Files:      each(s.Files, func(f changed) loop.FileChange { return f.FileChange }),
		Insertions: s.Insertions, Deletions: s.Deletions, State: s.State, Checkpoint: s.Checkpoint, Unshown: s.Unshown, Warnings: s.Warnings,
	}
}

type captured struct {
	Iteration int `json:"iteration_number"`
	stat
}

func capturedOf(e loop.DiffCaptured) captured { return captured{e.Iteration, statOf(e.Change)} }

func (c captured) event() loop.DiffCaptured {
	return loop.DiffCaptured{Iteration: c.Iteration, Change: c.change()}
}

// patches are a change with the text of its patches. They are concatenated, as `git apply` takes
// them.
type patches struct {
	Diff string `json:"git_diff"`
	stat
}

func patchesOf(c loop.Change) patches {
	p := patches{c.ApplicablePatch(), statOf(c)}
	p.Unshown = c.Unshown
	for i, f := range c.Files {
		if f.BinaryPatch != "" {
			p.Files[i].BinaryBytes, p.Files[i].Short = len(f.BinaryPatch), f.Patch
		} else {
			p.Files[i].Bytes = len(f.Patch)
		}
	}
	return p
}

func (p patches) change() loop.Change {
	c := p.stat.change()
	left, split := p.Diff, true
	for i, f := range p.Files {
		to := &c.Files[i]
		if f.BinaryBytes > 0 {
			to.Patch = f.Short
			to.BinaryPatch, left, split = take(left, f.BinaryBytes, split)
		} else {
			to.Patch, left, split = take(left, f.Bytes, split)
		}
	}
	if !split || left != "" {
		// The log is not ours, or was edited.
		c.Files = splitPatch(p.Diff)
		c = c.Counted()
	}
	return c
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

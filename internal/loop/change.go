package loop

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A FileStatus says what happened to a path.
type FileStatus string

// What can happen to a path. A change of type (file to symlink) is a deletion followed by an
// addition of the same path, as in git's output.
const (
	FileAdded    FileStatus = "added"
	FileModified FileStatus = "modified"
	FileDeleted  FileStatus = "deleted"
	// FileRenamed is for display and for foreign logs: a capture has a deletion and an addition
	// instead.
	FileRenamed FileStatus = "renamed"
)

// A FileChange is the part of a [Change] that concerns one path.
type FileChange struct {
	Path    string     `json:"path"`              // slash-separated, relative to the work tree's root; any bytes but NUL
	OldPath string     `json:"old_path,omitzero"` // of a renamed file, else ""
	Status  FileStatus `json:"status"`
	OldMode uint32     `json:"old_mode,omitzero"` // as git writes it: 0o100644, 0o100755, 0o120000, 0o160000; 0 when absent
	NewMode uint32     `json:"new_mode,omitzero"`
	OldSize int64      `json:"old_size,omitzero"` // bytes; 0 when absent
	NewSize int64      `json:"new_size,omitzero"`
	Binary  bool       `json:"binary,omitzero"`

	Insertions int `json:"insertions,omitzero"`
	Deletions  int `json:"deletions,omitzero"`

	// Patch is the text of `git diff-tree -p --full-index --no-renames` for
	// this path, from its "diff --git" line to its last newline.
	Patch string `json:"-"`
	// BinaryPatch is Patch with the content of a binary file in it, so that
	// `git apply` rebuilds the file; "" when Patch does that by itself or the
	// file is too large.
	BinaryPatch string `json:"-"`
}

// A Change is the difference between the work tree at the start of the session and now, ordered
// by path.
type Change struct {
	Files      []FileChange
	Insertions int
	Deletions  int
	// State identifies the state of the work tree; within one repository, equal states have equal
	// values.
	State string
	// Position is where HEAD, the index and the tags were. It is not logged.
	Position Position
	// Checkpoint is the commit that holds the state; "": none.
	Checkpoint string
	// Warnings say what the change may be missing, such as paths that could not be read, as
	// sentences for a person.
	Warnings []string
	// Git are those Warnings that concern git itself: it may show, or run, something else than
	// before. They are not logged separately.
	Git []string
	// Unshown lists what the patches do not show as it is, ordered by path.
	Unshown []Unshown
}

// A Position is what a check can see of a repository besides the work tree. It is never restored.
type Position struct {
	Head  string // in words
	Index string // equal for equal entries
	Tags  string // likewise
}

// Since names the parts that have changed.
func (p Position) Since(was Position) (parts []string) {
	if p.Head != was.Head {
		parts = append(parts, "HEAD")
	}
	if p.Index != was.Index {
		parts = append(parts, "index")
	}
	if p.Tags != was.Tags {
		parts = append(parts, "tags")
	}
	return parts
}

// Empty reports whether nothing has changed since the start of the session.
func (c Change) Empty() bool { return len(c.Files) == 0 }

// Counted returns the change with the lines of its files added up.
func (c Change) Counted() Change {
	c.Insertions, c.Deletions = 0, 0
	for _, f := range c.Files {
		c.Insertions += f.Insertions
		c.Deletions += f.Deletions
	}
	return c
}

// Patch returns the whole change as text, with binary files only named.
func (c Change) Patch() string {
	return c.join(func(f FileChange) string { return f.Patch })
}

// ApplicablePatch returns the whole change in the form that `git apply` accepts, with the content
// of binary files.
func (c Change) ApplicablePatch() string {
	return c.join(func(f FileChange) string { return cmp.Or(f.BinaryPatch, f.Patch) })
}

func (c Change) join(text func(FileChange) string) string {
	all := make([]string, len(c.Files))
	for i, f := range c.Files {
		all[i] = text(f)
	}
	return strings.Join(all, "") // the text of one file is not copied
}

// differing returns the sorted paths in which two changes of one session differ.
func differing(a, b Change) []string {
	before, after := a.byPath(), b.byPath()
	all := maps.Clone(before)
	maps.Copy(all, after)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(path string) bool {
		old, was := before[path]
		now, is := after[path]
		return was == is && old == now
	})
}

func (c Change) byPath() map[string]string {
	patches := make(map[string]string, len(c.Files))
	for _, f := range c.Files {
		patches[f.Path] += f.Patch // a change of type has two
	}
	return patches
}

// listed names a few paths and counts the rest. Unusual names are quoted.
func listed(paths []string) string {
	const most = 5
	names := make([]string, 0, most)
	for _, p := range paths[:min(len(paths), most)] {
		names = append(names, shown(p))
	}
	if rest := len(paths) - most; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), rest)
	}
	return strings.Join(names, ", ")
}

// shown quotes a path if it could be misread as part of a sentence.
func shown(path string) string {
	if q := strconv.Quote(path); len(q) != len(path)+2 || strings.ContainsAny(path, " ,;:()") {
		return q
	}
	return path
}

// Written lists what was written in a view of the work tree and then discarded. Files that git
// ignores are left out.
type Written struct {
	Changed    []string `json:"critic_undone,omitempty"`   // existing files that were changed or removed, by path
	Added      []string `json:"critic_added,omitempty"`    // new files, and new directories instead of those in them, with a slash at the end
	Repository []string `json:"-"`                         // changed parts of the repository, such as "HEAD" or "index"
	Settings   []string `json:"critic_settings,omitempty"` // changed git settings, such as "config" or "hooks/pre-commit"
	Patch      string   `json:"-"`                         // what was changed in the files, for reading; it is not logged, and has a limited size
}

// Files returns the paths of all files, unordered.
func (w Written) Files() []string {
	return append(slices.Clip(w.Changed), w.Added...)
}

// An Unshown is a file or directory in the work tree that no patch of a [Change] shows as it is
// on disk.
type Unshown struct {
	Path   string     `json:"path"` // directories end in a slash
	Why    UnshownWhy `json:"why"`
	Status FileStatus `json:"status"`         // what became of the file since the session began
	Via    string     `json:"via,omitzero"`   // the conversion, as in "ident" or "filter lfs"; else ""
	Files  int        `json:"files,omitzero"` // in a directory at any depth; 0 for a file

	// Text is a patch for reading, not for applying. It ends with a newline, or is "" if there is
	// nothing to show.
	Text string `json:"text,omitzero"`
}

// An UnshownWhy says why something is not shown.
type UnshownWhy string

// The reasons.
const (
	// Hidden: git ignores it, but did not when the session began. Text is the content.
	Hidden UnshownWhy = "hidden"
	// HiddenCache is Hidden in a directory that is marked as a cache (CACHEDIR.TAG).
	HiddenCache UnshownWhy = "hidden_cache"
	// IgnoredSettings: git ignores it, as before, and it tells agents how to work. There is no
	// Text, because such files hold users' own settings and keys.
	IgnoredSettings UnshownWhy = "ignored_settings"
	// WasIgnored: git ignored it when the session began, and does not any more, and it has the name
	// of a secret. Neither the patch nor Text has the content.
	WasIgnored UnshownWhy = "was_ignored"
	// Converted: git converts the file, and the patch shows the converted form. Text shows how to
	// get from there to the file on disk.
	Converted UnshownWhy = "converted"
	// BinaryText: git treats the file as binary although it is text except for some bytes. Text
	// is the change with these bytes escaped.
	BinaryText UnshownWhy = "binary_text"
	// TurnedBinary is BinaryText for a file that was text when the session began.
	TurnedBinary UnshownWhy = "turned_binary"
	// CutOut: it was there when the session began, and a sparse checkout leaves it out now. To git, and in
	// a commit, it is what it was.
	CutOut UnshownWhy = "cut_out"
	// Unreadable: it cannot be read, but could be, or did not exist, when the session began.
	Unreadable UnshownWhy = "unreadable"
)

// named returns a copy without the texts.
func named(all []Unshown) []Unshown {
	all = slices.Clone(all)
	for i := range all {
		all[i].Text = ""
	}
	return all
}

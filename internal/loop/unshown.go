package loop

import "slices"

// An Unshown is something in the work tree that no patch of a [Change] shows as it
// stands on the disk.
type Unshown struct {
	Path   string     // of a file; of a directory, with a slash at its end
	Why    UnshownWhy // it is not shown
	Status FileStatus // what became of the file since the session began
	Via    string     // what converts the file, as in "ident" or "filter lfs"; else ""
	Files  int        // in a directory, at any depth; 0 for a file

	// Text is a patch to be read, not to be applied. It ends at its last newline,
	// and is "" where there is nothing to show.
	Text string
}

// An UnshownWhy says why something is not shown.
type UnshownWhy string

// Why something is not shown.
const (
	// Hidden: git ignores it, and would not by the rules that held when the session
	// began. Text is what stands in the file.
	Hidden UnshownWhy = "hidden"
	// HiddenCache is Hidden in a directory that calls itself a cache (CACHEDIR.TAG).
	HiddenCache UnshownWhy = "hidden_cache"
	// IgnoredSettings: git ignores it, as it did before, and it tells agents how to
	// work. There is no Text: users keep their own settings and keys in such files.
	IgnoredSettings UnshownWhy = "ignored_settings"
	// Converted: git makes something else of the file, which is what the patch
	// shows. Text leads to what stands in the file.
	Converted UnshownWhy = "converted"
	// BinaryText: to git the file is binary, though it is text but for some bytes.
	// Text is the change with these bytes as escapes.
	BinaryText UnshownWhy = "binary_text"
	// TurnedBinary is BinaryText of what was text when the session began, whatever
	// it is now.
	TurnedBinary UnshownWhy = "turned_binary"
)

// named returns what is not shown without its texts.
func named(all []Unshown) []Unshown {
	all = slices.Clone(all)
	for i := range all {
		all[i].Text = ""
	}
	return all
}

package loop

import "slices"

// An Unshown is a file or directory in the work tree that no patch of a [Change] shows as it is
// on disk.
type Unshown struct {
	Path   string // directories end in a slash
	Why    UnshownWhy
	Status FileStatus // what became of the file since the session began
	Via    string     // the conversion, as in "ident" or "filter lfs"; else ""
	Files  int        // in a directory at any depth; 0 for a file

	// Text is a patch for reading, not for applying. It ends with a newline, or is "" if there is
	// nothing to show.
	Text string
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
	// Converted: git converts the file, and the patch shows the converted form. Text shows how to
	// get from there to the file on disk.
	Converted UnshownWhy = "converted"
	// BinaryText: git treats the file as binary although it is text except for some bytes. Text
	// is the change with these bytes escaped.
	BinaryText UnshownWhy = "binary_text"
	// TurnedBinary is BinaryText for a file that was text when the session began.
	TurnedBinary UnshownWhy = "turned_binary"
)

// named returns a copy without the texts.
func named(all []Unshown) []Unshown {
	all = slices.Clone(all)
	for i := range all {
		all[i].Text = ""
	}
	return all
}

package proc

import (
	"cmp"
	"time"
)

// DefaultGrace is how long a command that is asked to end has before it is
// killed, unless it says otherwise.
const DefaultGrace = 5 * time.Second

// A Command is what to run and within which limits.
type Command struct {
	Invocation
	// StdinPipe has Stdin come from a pipe, not from a regular file.
	StdinPipe bool
	Records
	View
	Limits

	// Watch, if set, is told all of what is printed, as it comes: stream is
	// "stdout" or "stderr" ("stdout" for both when they share a file). Chunks
	// end anywhere, even inside a character, and belong to the caller again
	// when Watch returns. It is called from another goroutine than Run's,
	// never concurrently with itself, and not after Run has returned.
	Watch func(stream string, chunk []byte)
}

// An Invocation is a program with all that it is given.
type Invocation struct {
	// Argv is the program and its arguments. A name without a slash is looked
	// up in the PATH of Env; a relative path is relative to Dir.
	Argv []string
	Dir  string   // absolute
	Env  []string // "NAME=value", complete: nothing is inherited
	// Stdin is what the program reads, followed by the end of file; nil is the
	// null device.
	Stdin []byte
}

// Records are files for what a command prints, made with mode 0600 instead of what is
// there; "" is none.
type Records struct {
	// Stdout and Stderr may be the same path: both streams are then one, in the
	// order in which they come.
	Stdout string
	Stderr string
	// Late is for what comes on either when the command's own process has ended; it
	// is made when something does.
	Late string
	// Sealed keeps the standard output for the command and those who inherit it:
	// nobody else can write into it, nor can it be opened again as /dev/stdout.
	Sealed bool
}

// Limits bound a command.
type Limits struct {
	Timeout   time.Duration // for the whole run; 0: none
	Idle      time.Duration // without anything on either stream; 0: none
	MaxOutput int64         // bytes of each stream; 0: no limit
	Keep      int64         // bytes of each stream in the Result; 0: none
	Grace     time.Duration // between being asked to end and being killed; 0: DefaultGrace
}

func (l Limits) grace() time.Duration { return cmp.Or(max(l.Grace, 0), DefaultGrace) }

// A View is what a command, with all that it starts, sees otherwise than others do. Only
// Linux has it; a system, or a file system, that does not allow it makes Run return an
// [*OverlayError].
type View struct {
	// Binds are directories that it finds in the place of others.
	Binds []Bind
	// Overlays are directories of which it has a version of its own: what it writes
	// goes elsewhere, and the directories stay as they are.
	Overlays []Overlay
	// Hidden are directories that it finds empty.
	Hidden []string
}

func (v View) apart() bool { return len(v.Binds)+len(v.Overlays)+len(v.Hidden) > 0 }

// A Bind is a directory that a command finds at the path of another one, which it does not
// see. Both are absolute. Binds come before overlays, which may lie above them; the first may
// hide what the others show.
type Bind struct {
	Dir string // where it is found
	Of  string // what is found there
}

// An Overlay is a directory that a command sees with changes of its own; see
// overlayfs in the kernel's documentation for what is in Upper then. All are absolute
// paths of directories; Upper and Work must be in one file system, and Work empty.
type Overlay struct {
	Dir   string
	Lower []string // directories that it finds there instead of Dir, each hiding the next ones; nil is Dir
	Upper string   // what is written, with what other commands have written there before
	Work  string
}

package proc

import (
	"cmp"
	"io"
	"time"
)

// DefaultGrace is the default time between asking a command to end and killing it.
const DefaultGrace = 5 * time.Second

// A Command is what to run, and its limits.
type Command struct {
	Invocation
	// StdinPipe makes the command read Stdin from a pipe, not from a regular file.
	StdinPipe bool
	// More, if set, is what the pipe gets after Stdin, until it ends. It is closed when the
	// command is gone, which must end a read.
	More io.ReadCloser
	Records
	View
	Limits

	// Watch, if set, receives the output as it arrives: stream is "stdout" or "stderr"
	// ("stdout" for both when they share a file). Chunks may end inside a character and
	// must not be kept after Watch returns. It is called from its own goroutine, never
	// concurrently with itself, and not after Run has returned.
	Watch func(stream string, chunk []byte)
}

// An Invocation is a program with everything it is given.
type Invocation struct {
	// Argv is the program and its arguments. A name without a slash is looked up in
	// Env's PATH; a relative path is relative to Dir.
	Argv []string
	Dir  string   // absolute
	Env  []string // "NAME=value", complete: nothing is inherited
	// Stdin is what the program reads before end of file; nil is the null device.
	Stdin []byte
}

// Records are the files for a command's output. They replace whatever has their names
// and get mode 0600; "" is none.
type Records struct {
	// Stdout and Stderr may be the same path, which merges the two streams.
	Stdout string
	Stderr string
	// Late is for output that arrives after the command's own process has ended. The
	// file is only made if there is any.
	Late string
	// Sealed restricts standard output to the command and the processes that inherit
	// it: nobody else can write to it, and it cannot be reopened as /dev/stdout.
	Sealed bool
}

// Limits bound a command.
type Limits struct {
	Timeout   time.Duration // for the whole run; 0: none
	Idle      time.Duration // without output on either stream; 0: none
	MaxOutput int64         // bytes of each stream; 0: no limit
	Keep      int64         // bytes of each stream in the Result; 0: none
	Grace     time.Duration // between asking it to end and killing it; 0: DefaultGrace
}

func (l Limits) grace() time.Duration { return cmp.Or(max(l.Grace, 0), DefaultGrace) }

// A View is how a command and its descendants see the file system. Only Linux supports
// it; where the system or a file system does not allow it, Run returns an
// [*OverlayError].
type View struct {
	// Binds are directories that show the content of others.
	Binds []Bind
	// Overlays are directories that the command sees with changes of its own: what it
	// writes goes elsewhere, and the directories stay as they are.
	Overlays []Overlay
	// Hidden are directories that appear empty.
	Hidden []string
}

func (v View) empty() bool { return len(v.Binds)+len(v.Overlays)+len(v.Hidden) == 0 }

// A Bind shows the directory Of at the path Dir. Both are absolute. Binds are mounted
// before overlays, which may cover them; an earlier bind covers a later one.
type Bind struct {
	Dir string
	Of  string
}

// An Overlay is a directory that a command sees with changes of its own; the kernel's
// overlayfs documentation describes what ends up in Upper. All are absolute paths of
// directories; Upper and Work must be in one file system, and Work empty.
type Overlay struct {
	Dir   string
	Lower []string // directories to show instead of Dir, each covering the next; nil is Dir
	Upper string   // what is written; it may hold what earlier commands wrote
	Work  string
}

package proc

import "time"

// DefaultGrace is how long a command that is asked to end has before it is
// killed, unless it says otherwise.
const DefaultGrace = 5 * time.Second

// A Command is what to run and within which bounds.
type Command struct {
	// Argv is the program and its arguments. A name without a slash is looked
	// up in the PATH of Env; a relative path is relative to Dir.
	Argv []string
	Dir  string   // absolute
	Env  []string // "NAME=value", complete: nothing is inherited

	// Stdin is what the command reads, followed by the end of file; nil is the
	// null device. It comes from a regular file, or with StdinPipe from a pipe.
	Stdin     []byte
	StdinPipe bool

	// Stdout and Stderr are files for a record of what the command prints, made
	// with mode 0600 in the place of what is there; "" is none. They may be the same
	// path: both streams are then one, in the order in which they come. Late is one
	// for what comes on either when the command's own process has ended; it is made
	// when something does.
	Stdout string
	Stderr string
	Late   string
	// Sealed keeps Stdout for the command and those who inherit it: nobody else can
	// write into it, nor can it be opened again as /dev/stdout.
	Sealed bool

	Timeout   time.Duration // for the whole run; 0: none
	Idle      time.Duration // without anything on either stream; 0: none
	MaxOutput int64         // bytes of each stream; 0: no limit
	Keep      int64         // bytes of each stream in the Result; 0: none
	Grace     time.Duration // between being asked to end and being killed; 0: DefaultGrace

	// Watch, if set, is told all of what is printed, as it comes: stream is
	// "stdout" or "stderr" ("stdout" for both when they share a file). Chunks
	// end anywhere, even inside a character, and belong to the caller again
	// when Watch returns. It is called from another goroutine than Run's,
	// never concurrently with itself, and not after Run has returned.
	Watch func(stream string, chunk []byte)
}

func (c Command) grace() time.Duration {
	if c.Grace > 0 {
		return c.Grace
	}
	return DefaultGrace
}

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

	// Stdout and Stderr are the files to write, made with mode 0600 in the place
	// of what is there. They may be the same path: both streams then go to one
	// file in the order in which they come. "" is a file that is gone after the
	// run.
	Stdout string
	Stderr string

	Timeout   time.Duration // for the whole run; 0: none
	Idle      time.Duration // without growth of either file; 0: none
	MaxOutput int64         // bytes of each file; 0: no limit
	Keep      int64         // bytes of each file in the Result; 0: none
	Grace     time.Duration // between being asked to end and being killed; 0: DefaultGrace

	// Watch, if set, is told what is written, within some 50 ms: stream is
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

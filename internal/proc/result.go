package proc

import "time"

// A Stop is why a command was stopped.
type Stop string

// The reasons to stop a command. StopNone means that it ended by itself.
const (
	StopNone        Stop = ""
	StopTimeout     Stop = "timeout"
	StopIdle        Stop = "idle"
	StopOutputLimit Stop = "output_limit"
	StopCancelled   Stop = "cancelled"
)

// A Result is how a command ended and what it wrote.
type Result struct {
	ExitCode int    // -1 when a signal ended the process
	Signal   string // "killed", "terminated", …; "" when no signal ended it
	// Stop is set when the process was still running when it was told to end;
	// ExitCode and Signal are then meaningless.
	Stop     Stop
	Duration time.Duration // until nothing of the command was left
	Stdout   Captured
	Stderr   Captured // empty when both streams share a file
	// Late is output that arrived after the command's own process had ended. It is not
	// part of the command's output.
	Late Late
	// Leftovers are the processes, 32 at most, that outlived the command's own
	// process. They have been ended.
	Leftovers []Process
}

// Captured is what is kept of one stream.
type Captured struct {
	// Text is everything that was written, or its head and tail, cut between
	// characters, with a line between them that says how much is missing.
	Text    []byte
	Total   int64  // bytes written
	Omitted int64  // bytes that Text does not hold
	End     []byte // if something is omitted: the last 256 KiB, cut anywhere
	File    string // a record of everything, for people; "": none
}

// Late is output that arrived too late.
type Late struct {
	Total int64  // bytes, as far as the channels had room for them
	File  string // holds them; "": there are none, or they are not kept
}

// A Process is one that a command left running.
type Process struct {
	PID     int
	Command string // its command line: one printable line, 200 bytes at most
}

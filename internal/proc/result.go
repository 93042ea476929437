package proc

import "time"

// A Stop says why a command was made to end.
type Stop string

// The reasons to stop a command. StopNone is a command that ended by itself.
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
	// Stop is set when the process was still running as it was told to end;
	// ExitCode and Signal are then not to be trusted.
	Stop     Stop
	Duration time.Duration // until nothing of the command was left
	Stdout   Captured
	Stderr   Captured // empty when both streams share a file
	// Late is what came on either stream when the command's own process had ended.
	// It is none of the command's output.
	Late Late
	// Leftovers are the processes, 32 at most, that outlived the command's own
	// process. They have been ended since.
	Leftovers []Process
}

// Captured is what is kept of one stream.
type Captured struct {
	// Text is all that was written, or its head and its tail, cut between
	// characters, with a line between them that says what is missing.
	Text    []byte
	Total   int64  // bytes written
	Omitted int64  // bytes that Text does not hold
	End     []byte // where something is omitted: the last 256 KiB, cut anywhere
	File    string // a record of everything, for people; "": there is none
}

// Late is what came too late.
type Late struct {
	Total int64  // bytes, as far as the channels had room for them
	File  string // holds them; "": there are none, or they are not kept
}

// A Process is one that a command left running.
type Process struct {
	PID     int
	Command string // its command line: one printable line, 200 bytes at most
}

// Command codeloops makes coding agents finish what they start: an actor works
// in a git repository, a critic judges the diff, and its feedback goes back
// until the critic says DONE.
package main

import (
	"os"
	"runtime/debug"
	"time"

	"codeloops/internal/command"
	"codeloops/internal/config/host"
	"codeloops/internal/proc"
	"codeloops/internal/screen/term"
)

func main() {
	if proc.Keep() {
		return
	}
	debug.SetGCPercent(50) // the memory is for agents, and a log may have 1 GB
	a := &app{Console: &command.Console{
		Streams: term.New(os.Stdin, os.Stdout, os.Stderr, os.Getenv),
		Host:    host.Host{Environ: os.Environ(), Now: time.Now},
	}}
	os.Exit(a.run(os.Args[1:]))
}

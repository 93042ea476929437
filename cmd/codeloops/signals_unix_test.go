//go:build unix

package main

import (
	"os"
	"syscall"
)

var signalsByName = map[string]os.Signal{
	"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL,
	"USR1": syscall.SIGUSR1,
}

//go:build !unix

package term

import (
	"context"
	"os"
)

// Jobs is nothing here: processes are not stopped.
type Jobs struct{}

// A Hold is told of nothing.
type Hold struct{}

// Hold does nothing.
func (*Jobs) Hold() *Hold { return &Hold{} }

// Signals returns a channel of nothing.
func (*Hold) Signals() <-chan os.Signal { return nil }

// IsStop says that none does.
func IsStop(os.Signal) bool { return false }

// NotifyResize does nothing.
func NotifyResize(chan<- os.Signal) {}

// Release does nothing.
func (*Hold) Release() {}

// Resumable says that the process cannot be stopped.
func (*Hold) Resumable() bool { return false }

// Stop does nothing.
func (*Hold) Stop(context.Context, *os.File) error { return nil }

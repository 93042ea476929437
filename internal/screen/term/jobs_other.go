//go:build !unix

package term

import (
	"context"
	"os"
)

// Jobs does nothing: this system cannot stop processes.
type Jobs struct{}

// A Hold never receives a signal.
type Hold struct{}

// Hold does nothing.
func (*Jobs) Hold() *Hold { return &Hold{} }

// Signals returns a nil channel.
func (*Hold) Signals() <-chan os.Signal { return nil }

// IsStop returns false.
func IsStop(os.Signal) bool { return false }

// NotifyResize does nothing.
func NotifyResize(chan<- os.Signal) {}

// Release does nothing.
func (*Hold) Release() {}

// Resumable returns false.
func (*Hold) Resumable() bool { return false }

// Stop does nothing.
func (*Hold) Stop(context.Context, *os.File) error { return nil }

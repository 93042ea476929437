//go:build !linux && !darwin

package scan

import (
	"runtime"

	"codeloops/internal/file"
)

// ClockOf says how far the times of files in a directory can be trusted. On Windows a program can
// set all of them.
func ClockOf(string) Clock { return Clock{Slack: file.Slack, Keeps: runtime.GOOS != "windows"} }

//go:build !linux && !darwin

package scan

import (
	"runtime"

	"codeloops/internal/repo/file"
)

// ClockOf tells how far the times of files in a directory can be relied on. On Windows
// a program can set all those that are looked at.
func ClockOf(string) Clock { return Clock{Slack: file.Slack, Keeps: runtime.GOOS != "windows"} }

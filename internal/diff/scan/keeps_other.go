//go:build !linux && !darwin

package scan

import "runtime"

// Keeps reports whether the times of files in a directory tell of every change of
// their contents. On Windows a program can set all those that are looked at.
func Keeps(string) bool { return runtime.GOOS != "windows" }

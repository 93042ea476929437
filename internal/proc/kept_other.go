//go:build !linux && !darwin

package proc

// Kept reports whether this process is a part of what a runner of another one runs.
// Here nothing tells.
func Kept() bool { return false }

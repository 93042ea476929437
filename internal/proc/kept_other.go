//go:build !linux && !darwin

package proc

// Kept reports whether this process descends from a command of another process's runner.
// It cannot be determined on this system.
func Kept() bool { return false }

//go:build !linux && !darwin

package proc

// UnderKeeper reports whether this process descends from a command of another process's runner.
// It cannot be determined on this system.
func UnderKeeper() bool { return false }

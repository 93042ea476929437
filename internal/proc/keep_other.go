//go:build !linux

package proc

// Keep must be called first in main, and in TestMain of packages that run commands. Only
// Linux has keepers: here it returns false.
func Keep() bool { return false }

// Able returns an error if the system lacks what every runner needs.
func Able() error { return nil }

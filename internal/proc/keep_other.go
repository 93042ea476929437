//go:build !linux

package proc

// Keep is the first thing that main does, and TestMain in the tests of
// packages that run commands. Only Linux has keepers: here it returns false.
func Keep() bool { return false }

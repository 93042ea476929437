//go:build !linux

package diff_test

// canWatch reports that there are no hints.
func canWatch(string) bool { return false }

//go:build !linux && !darwin

package restore

func writable(string) error { return nil }

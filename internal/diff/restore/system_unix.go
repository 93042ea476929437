//go:build linux || darwin

package restore

import "golang.org/x/sys/unix"

// writable returns why no file can be made in a directory, if that can be told beforehand.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

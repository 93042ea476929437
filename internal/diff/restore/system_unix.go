//go:build linux || darwin

package restore

import "golang.org/x/sys/unix"

// writable returns why no file can be made in a directory, as far as can be told.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

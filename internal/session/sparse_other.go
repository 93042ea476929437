//go:build !linux

package session

import "os"

// readSparsely says that only a little of a file will be read, where the system
// wants to know.
func readSparsely(*os.File) {}

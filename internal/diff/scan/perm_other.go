//go:build !unix

package scan

import "io/fs"

// Umask returns the permissions that new files do not get.
func Umask() fs.FileMode { return 0o022 }

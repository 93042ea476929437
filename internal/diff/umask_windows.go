package diff

import "io/fs"

// Umask returns the permission bits that new files do not get.
func Umask() fs.FileMode { return 0o022 }

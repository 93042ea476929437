package door

import "io/fs"

// private is always true: the sockets are in directories below the user's own.
func private(fs.FileInfo) bool { return true }

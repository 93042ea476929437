package leftovers

import "io/fs"

// owned: the directory for temporary files is the user's own.
func owned(fs.FileInfo) bool { return true }

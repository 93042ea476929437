//go:build !unix

package scenarios

import "io/fs"

// number stands in for the inode number of other systems.
func number(fs.FileInfo) uint64 { return 0 }

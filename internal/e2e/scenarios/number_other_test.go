//go:build !unix

package scenarios

import "io/fs"

// number stands in for what other systems know a file by.
func number(fs.FileInfo) uint64 { return 0 }

//go:build !linux

package scan

// Kept are directories of one work tree that stay open from scan to scan: none
// here.
type Kept struct{}

// Close does nothing.
func (*Kept) Close() {}

func (*Kept) begin(*walk) *keeper { return nil }

type keeper struct{}

type openDir struct{}

func (*keeper) find(*handle, *Dir, bool) *openDir { return nil }
func (*keeper) opens(*openDir) bool               { return false }
func (*keeper) keep(*handle, *openDir) *openDir   { return nil }
func (*keeper) found(kept *openDir, was, is *Dir) {}
func (*keeper) end(bool)                          {}

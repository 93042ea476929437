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

func (*keeper) find(*visit)        {}
func (*keeper) opens(*visit) bool  { return false }
func (*keeper) keep(*visit) bool   { return false }
func (*keeper) found(*visit, *Dir) {}
func (*keeper) end(bool)           {}

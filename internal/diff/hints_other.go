//go:build !linux

package diff

import "codeloops/internal/diff/scan"

// hints are known on Linux only: elsewhere every directory is looked at.
type hints struct{}

func (*hints) ask(*scan.Scanner, scan.Known) func(string) bool { return nil }
func (*hints) follow(*scan.Scanner, *scan.Dir)                 {}
func (*hints) begin(string, *scan.Dir)                         {}
func (*hints) close()                                          {}

//go:build !linux

package proc

// A leader is the command's own process. No channel is signed here, so nobody needs to
// know when it is gone.
type leader struct{}

func (*leader) gone() bool { return false }

func (*leader) close() {}

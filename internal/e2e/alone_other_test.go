//go:build !linux

package e2e

import (
	"errors"
	"os/exec"
)

// isolate does nothing on this system.
func isolate(*exec.Cmd) error { return errors.ErrUnsupported }

func loopback() error { return nil }

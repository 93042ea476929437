//go:build !linux

package e2e

import (
	"errors"
	"os/exec"
)

// isolate can do nothing here.
func isolate(*exec.Cmd) error { return errors.ErrUnsupported }

func loopback() error { return nil }

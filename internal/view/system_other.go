//go:build !linux && !darwin

package view

import "errors"

func share(string, string) error { return errors.ErrUnsupported }

// spread matters only on ext4.
func spread(string) {}

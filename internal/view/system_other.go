//go:build !linux && !darwin

package view

import "errors"

func share(string, string) error { return errors.ErrUnsupported }

// spread is for ext4.
func spread(string) {}

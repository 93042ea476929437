//go:build !linux && !darwin

package view

import "errors"

func share(string, string) error { return errors.ErrUnsupported }

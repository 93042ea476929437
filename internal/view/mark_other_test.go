//go:build !linux

package view_test

import "errors"

func mark(string, string) error { return errors.ErrUnsupported }

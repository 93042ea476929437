//go:build !linux

package view

import "io/fs"

// There are no overlays here.

func whiteout(fs.FileInfo) bool { return false }

func opaque(string) bool { return false }

func unsetOpaque(string) error { return nil }

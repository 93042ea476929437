//go:build !linux

package view

import (
	"context"
	"io/fs"
)

// There are no overlays here.

func whiteout(fs.FileInfo) bool { return false }

func opaque(string) bool { return false }

func unsetOpaque(string) error { return nil }

// Marked lists nothing.
func (*Place) Marked(context.Context) ([]string, error) { return nil, nil }

func cover(_, _ string, _, _, _ []string) error { return nil }

func uncover(string, string, []string) error { return nil }

//go:build unix

package proc

import (
	"io/fs"
	"strings"
)

func isPath(name string) bool { return strings.Contains(name, "/") }

func spellings(path string, _ []string) []string { return []string{path} }

func executable(st fs.FileInfo) bool { return st.Mode()&0o111 != 0 }

func sameEnvName(a, b string) bool { return a == b }

// direct returns what to start in place of a program: here, that program.
func direct(path string, i Invocation) (program string, argv []string) { return path, i.Argv }

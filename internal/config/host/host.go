// Package host holds what a run knows about its machine and user.
package host

import (
	"cmp"
	"os"
	"path/filepath"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/proc"
	"codeloops/internal/redact"
)

// A Host is the environment of a run. Nothing else reads it from the process.
type Host struct {
	Environ []string // NAME=value; the last of a name counts
	Dir     string   // the working directory, absolute and free of symbolic links
	Now     func() time.Time
	Secrets *redact.Redactor
}

// LookupEnv returns the value of a variable and whether it is set.
func (h *Host) LookupEnv(name string) (string, bool) { return proc.LookupEnv(h.Environ, name) }

// Getenv returns the value of a variable, "" when it is not set.
func (h *Host) Getenv(name string) string { return proc.Getenv(h.Environ, name) }

// Home returns the user's home directory, "" if unknown.
func (h *Host) Home() string {
	if home := h.Getenv("HOME"); home != "" {
		return home
	}
	return h.Getenv("USERPROFILE") // where Windows keeps it
}

// Data returns a subdirectory of codeloops' data directory; "" without a home directory.
func (h *Host) Data(name string) string {
	if data := config.Dir("data", h.Environ, h.Home()); data != "" {
		return filepath.Join(data, name)
	}
	return ""
}

// Cache returns a subdirectory of codeloops' cache directory.
func (h *Host) Cache(name string) string {
	return filepath.Join(cmp.Or(config.Dir("cache", h.Environ, h.Home()), filepath.Join(os.TempDir(), "codeloops")), name)
}

// Path resolves a path against the working directory.
func (h *Host) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(h.Dir, name)
}

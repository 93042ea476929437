// Package host is what a run knows of the machine and the user that it works for.
package host

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/redact"
)

// A Host is the surroundings of a run. Nobody asks the process for them again.
type Host struct {
	Environ []string // NAME=value; the last of a name counts
	Dir     string   // the working directory, absolute and free of symbolic links
	Now     func() time.Time
	Secrets *redact.Redactor
}

// LookupEnv finds a variable.
func (h *Host) LookupEnv(name string) (string, bool) {
	for _, entry := range slices.Backward(h.Environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// Getenv returns the value of a variable, "" when it is not set.
func (h *Host) Getenv(name string) string {
	value, _ := h.LookupEnv(name)
	return value
}

// Home is the user's home directory, "" when it is not known.
func (h *Host) Home() string {
	if home := h.Getenv("HOME"); home != "" {
		return home
	}
	return h.Getenv("USERPROFILE") // where Windows keeps it
}

// Data returns a directory of codeloops' own for data; "" without a home directory.
func (h *Host) Data(name string) string {
	if data := config.DataDir(h.Environ, h.Home()); data != "" {
		return filepath.Join(data, name)
	}
	return ""
}

// Cache returns a directory of codeloops' own for what can be made again.
func (h *Host) Cache(name string) string {
	dir := h.Getenv("XDG_CACHE_HOME")
	switch {
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows":
		dir = h.Getenv("LOCALAPPDATA")
	case h.Home() == "":
		dir = ""
	case runtime.GOOS == "darwin":
		dir = filepath.Join(h.Home(), "Library", "Caches")
	default:
		dir = filepath.Join(h.Home(), ".cache")
	}
	return filepath.Join(cmp.Or(dir, os.TempDir()), "codeloops", name)
}

// Path returns a path as it is from the working directory.
func (h *Host) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(h.Dir, name)
}

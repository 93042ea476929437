//go:build unix && !linux

package scan

import (
	"os"

	"golang.org/x/sys/unix"
)

// glance returns the stat of the directory.
func (h *handle) glance(bool) (Stat, kind, error) { return h.stat("") }

// entries reads the directory through the standard library, which knows how on
// each system.
func (h *handle) entries(s *scratch) ([]entry, error) {
	fd, err := h.openAt(h.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), h.path)
	defer f.Close() //nolint:errcheck // opened for reading: nothing to lose
	found, err := f.ReadDir(-1)
	return s.convert(found), err
}

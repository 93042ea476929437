//go:build unix && !linux

package scan

import (
	"os"

	"golang.org/x/sys/unix"
)

// passing opens a directory for what is below it to be looked up.
const passing = unix.O_RDONLY

// entries reads the directory through the standard library, which knows how on
// each system.
func (h *handle) entries(s *scratch) ([]entry, error) {
	fd, err := h.openAt(h.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), h.rel)
	defer f.Close() //nolint:errcheck // opened for reading: nothing to lose
	found, err := f.ReadDir(-1)
	return s.convert(found), err
}

package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// passing opens a directory for no more than what is below it to be looked up.
const passing = unix.O_PATH

// entries reads the directory by getdents64(2). The names are in the scratch.
func (h *handle) entries(s *scratch) ([]entry, error) {
	if s.dirents == nil {
		s.dirents = make([]byte, 32<<10)
	}
	s.names, s.entries, s.ends = s.names[:0], s.entries[:0], s.ends[:0]
	for {
		n, err := unix.ReadDirent(h.fd, s.dirents)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "readdirent", Path: h.rel, Err: err}
		}
		if n <= 0 {
			break
		}
		s.take(s.dirents[:n])
	}
	all, from := string(s.names), 0
	for i, end := range s.ends {
		e := &s.entries[i]
		e.name, from = all[from:end], end
		if e.kind == unknown {
			_, k, err := h.stat(e.name)
			if err != nil && !gone(err) {
				return nil, err
			}
			e.kind = k
		}
	}
	return s.entries, nil
}

// take reads records of struct linux_dirent64: inode and offset of 8 bytes
// each, the record's length of 2, the type of 1, the name with a zero.
func (s *scratch) take(records []byte) {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for len(records) > nameAt {
		size := int(binary.NativeEndian.Uint16(records[lengthAt:]))
		if size <= nameAt || size > len(records) {
			return
		}
		record := records[:size]
		records = records[size:]
		name, _, _ := bytes.Cut(record[nameAt:], []byte{0})
		if len(name) == 0 || string(name) == "." || string(name) == ".." {
			continue
		}
		s.names = append(s.names, name...)
		s.ends = append(s.ends, len(s.names))
		s.entries = append(s.entries, entry{kind: kindOfType(record[typeAt])})
	}
}

func kindOfType(t byte) kind {
	switch t {
	case unix.DT_REG:
		return regular
	case unix.DT_LNK:
		return symlink
	case unix.DT_DIR:
		return directory
	case unix.DT_UNKNOWN:
		return unknown
	}
	return other
}

package file

import (
	"io/fs"
	"syscall"
)

func (s *Stamp) system(fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.Ctime = st.Ctimespec.Nano()
		s.Dev = uint64(st.Dev)
		s.Ino = uint64(st.Ino)
	}
}

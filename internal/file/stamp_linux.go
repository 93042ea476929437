package file

import (
	"io/fs"
	"syscall"
)

func (s *Stamp) system(fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.Ctime = st.Ctim.Nano()
		s.Dev = st.Dev
		s.Ino = st.Ino
	}
}

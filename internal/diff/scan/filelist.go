package scan

import (
	"path/filepath"
	"strings"
	"sync/atomic"
)

// A fileList is the files of a directory, by name. Copies of it share them. Those
// that a process before this one has saved are in saved form until somebody needs
// more of them than whether their stats are what they were.
type fileList struct {
	list  []File
	saved *savedFiles // in the place of list; may be nil
}

func listOf(files []File) fileList { return fileList{list: files} }

// all returns the files.
func (l *fileList) all() []File {
	if l.saved != nil {
		return l.saved.all()
	}
	return l.list
}

func (l *fileList) len() int {
	if l.saved != nil {
		return l.saved.count
	}
	return len(l.list)
}

// shares reports whether the files of both are the very same.
func (l *fileList) shares(other *fileList) bool {
	return l.saved != nil && l.saved == other.saved || sameSlice(l.all(), other.all())
}

func sameSlice(a, b []File) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// savedFiles are the files of a directory in saved form, which are sound.
type savedFiles struct {
	in    *savedRecords
	from  int // the first of them in the records
	count int
	list  atomic.Pointer[[]File] // they, once they have been needed
}

// all returns the files. It may be called by several goroutines.
func (s *savedFiles) all() []File {
	if list := s.list.Load(); list != nil {
		return *list
	}
	list := make([]File, s.count)
	for i := range list {
		list[i] = s.file(i)
	}
	s.list.CompareAndSwap(nil, &list)
	return *s.list.Load()
}

// file returns a file.
func (s *savedFiles) file(i int) (f File) {
	name, data := s.in.file(s.from + i)
	f.Name = name
	f.read(data)
	return f
}

// sound reports whether a work tree can have the files.
func (s *savedFiles) sound() bool {
	before := ""
	for i := range s.count {
		name, data := s.in.file(s.from + i)
		if name <= before || !soundSaved(name) || !soundMode(data[0]) {
			return false
		}
		before = name
	}
	return true
}

// savedRecords are the files of all directories in saved form.
type savedRecords struct {
	names string // of the directories, too
	files []byte
}

// file returns the name of a file, and what follows it in its record.
func (r *savedRecords) file(i int) (name string, data []byte) {
	record := r.files[i*savedFileSize : (i+1)*savedFileSize]
	return r.name(r.end(i), word(record)), record[savedNameEnd:]
}

// end returns where the names of the first n files end.
func (r *savedRecords) end(n int) int {
	if n == 0 {
		return 0
	}
	return word(r.files[(n-1)*savedFileSize:])
}

// name returns a name, "" where there is none.
func (r *savedRecords) name(begin, end int) string {
	if begin > end || end > len(r.names) {
		return ""
	}
	return r.names[begin:end]
}

// soundSaved reports whether a name without a slash or a zero is one that a work
// tree can have.
func soundSaved(name string) bool {
	if filepath.Separator != '/' && !filepath.IsLocal(name) {
		return false
	}
	return name != "" && (name[0] != '.' || name != "." && name != ".." && !strings.EqualFold(name, ".git"))
}

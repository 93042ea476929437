package scan

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
		return int(l.saved.count)
	}
	return len(l.list)
}

// shares reports whether the files of both are the very same.
func (l *fileList) shares(other *fileList) bool {
	return l.saved != nil && l.saved == other.saved || sameSlice(l.all(), other.all())
}

func sameSlice(a, b []File) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

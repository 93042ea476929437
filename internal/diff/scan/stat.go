package scan

import "time"

// A Stat is what the file system tells of a file without its content. Two
// equal ones of one path mean equal content, where the file system keeps times,
// unless the file was written within the clock's tick after the first.
type Stat struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Changed  int64 // likewise, of the inode; no program can set it back
	Inode    uint64
}

// kind is the part of a file's type that git cares for.
type kind uint8

const (
	unknown kind = iota // not told by the directory
	regular
	executable
	symlink
	directory
	other // FIFO, socket, device
)

// A clock says how far the times of a file system can be relied on.
type clock struct {
	slack time.Duration // by how much they may lag behind
	dirs  bool          // a directory's times tell of every entry that comes or goes
}

// Slack returns by how much the times of files in a directory may lag behind
// the clock.
func Slack(dir string) time.Duration { return clockOf(dir).slack }

// settled reports whether a file with this stat that changes after the time
// at, when it was read, gets another stat.
func (c clock) settled(s Stat, at time.Time) bool {
	limit := at.Add(-c.slack).UnixNano()
	return s.Modified < limit && s.Changed < limit
}

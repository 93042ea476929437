package diff

import "time"

// StandStill makes the stamp of the index as it is that with which it was read, as
// if it had been as it is now when the other one was written.
func (t *Tree) StandStill() {
	now, then := stampOf(t.repo.IndexFile()), t.tracked.stamp
	t.tracked.read = t.tracked.read.Add(time.Duration(max(now.Mtime, now.Ctime) - max(then.Mtime, then.Ctime)))
	t.tracked.stamp = now
}

package diff

import "time"

// AwaitHints waits until the directories are watched, if they are to be.
func (t *Tree) AwaitHints() {
	for w := t.hints.watcher; w != nil && !w.Ready(); {
		time.Sleep(time.Millisecond)
	}
}

// HintsHold reports whether the next Recapture may go by hints.
func (t *Tree) HintsHold() bool { return t.hints.whole != nil }

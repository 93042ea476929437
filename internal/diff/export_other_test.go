//go:build !linux

package diff

// AwaitHints does nothing: there are no hints.
func (t *Tree) AwaitHints() {}

// HintsHold reports that there are no hints.
func (t *Tree) HintsHold() bool { return false }

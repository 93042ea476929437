package diff

// Recalled reports whether the last scan went on from a saved state.
func (t *Tree) Recalled() bool { return t.saved != nil }

// Recalling reports whether the index is the one that was saved with a state.
func (t *Tree) Recalling() bool { return t.recalled != nil }

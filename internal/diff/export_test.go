package diff

// Recalled reports whether the last scan went on from a saved state.
func (t *Tree) Recalled() bool { return t.saved != nil }

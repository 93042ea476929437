package attr

// All returns every attribute of path (slash-separated, from the root) that is
// not unspecified, by name.
func (r *Reader) All(path string) map[string]Value {
	dir, name := r.above(path)
	values := dir.resolve(name)
	for name, v := range values {
		if v.State == Unspecified {
			delete(values, name)
		}
	}
	return values
}

package attr

import "maps"

// All returns every attribute of path (slash-separated, from the root) that is specified,
// by name.
func (r *Reader) All(path string) map[string]Value {
	values := r.Of(path)
	maps.DeleteFunc(values, func(_ string, v Value) bool { return v.State == Unspecified })
	return values
}

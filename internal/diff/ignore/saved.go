package ignore

import "codeloops/internal/diff/repo/file"

// A Saved is a [Source] in a form that another process can take up.
type Saved struct {
	Path   []byte // absolute; any bytes
	Stamp  file.Stamp
	Follow bool   // symbolic links
	Sum    []byte // of the content, where the stamp alone does not tell
}

// Save returns the files that were looked at so far. It reports false when one
// could not be read, or was not the same twice: then what the rules say may
// change, or have changed, without a trace.
func (r *Rules) Save() ([]Saved, bool) {
	r.mu.Lock()
	moved := r.moved
	r.mu.Unlock()
	if moved {
		return nil, false
	}
	var all []Saved
	for _, s := range r.readings() {
		if s.Err != nil {
			return nil, false
		}
		all = append(all, Saved{Path: []byte(s.Path), Stamp: s.Stamp, Follow: s.follow, Sum: []byte(s.sum)})
	}
	return all, true
}

// Inherit makes the files that another process looked at sources of these
// rules, which are new: [Rules.Changed] then tells whether what was judged there
// still holds.
func (r *Rules) Inherit(all []Saved) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range all {
		path := string(s.Path)
		inherited := reading{Source: Source{Path: path, Stamp: s.Stamp}, follow: s.Follow, sum: string(s.Sum)}
		if own, read := r.sources[path]; read {
			r.moved = r.moved || own.Stamp != inherited.Stamp || inherited.changed()
			continue
		}
		r.sources[path] = inherited
	}
}

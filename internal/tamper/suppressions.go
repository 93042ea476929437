package tamper

// suppressions reports comments and attributes that keep linters, type checkers
// and coverage quiet, wherever they were added.
func (r *report) suppressions() {
	before := map[string]int{}
	for _, f := range r.files {
		f.each("-", func(_ hunk, l line) {
			if l.silences != "" {
				before[normal(l.text)]++
			}
		})
	}
	for _, f := range r.files {
		f.each("+", func(_ hunk, l line) {
			if l.silences == "" {
				return
			}
			if key := normal(l.text); before[key] > 0 {
				before[key]--
				return
			}
			r.addf(Suppressed, f, l.at, "%s was added, which keeps a tool from complaining", l.silences)
		})
	}
}

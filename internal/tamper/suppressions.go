package tamper

// suppressions reports comments and attributes that keep linters, type checkers
// and coverage quiet, wherever they were added.
func (r *report) suppressions() {
	before := map[string]int{}
	for _, f := range r.files {
		f.each("-", func(_ hunk, l line) {
			if f.silences(l) != "" {
				before[normal(l.text)]++
			}
		})
	}
	for _, f := range r.files {
		f.each("+", func(_ hunk, l line) {
			marker := f.silences(l)
			if marker == "" {
				return
			}
			if key := normal(l.text); before[key] > 0 {
				before[key]--
				return
			}
			r.addf(Suppressed, f, l.at, "%s was added, which keeps a tool from complaining", marker)
		})
	}
}

// silences returns what in a line keeps a tool quiet, "" for nothing. It is one
// of the few words that the language's expressions know.
func (f *file) silences(l line) string {
	if f.lang == nil {
		return ""
	}
	if f.lang.silence != nil && l.comment != "" {
		if m := f.lang.silence.FindString(l.comment); m != "" {
			return quoted(m)
		}
	}
	if f.lang.allow != nil {
		if m := f.lang.allow.FindString(l.bare); m != "" {
			return quoted(m)
		}
	}
	return ""
}

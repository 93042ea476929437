package tamper

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// scripts reports the files that the run's own checks run. Where such a file has
// much else in it, or is a test, only what was there before counts.
func (r *report) scripts() {
	for _, f := range r.files {
		if !r.deciding(f.Path) {
			continue
		}
		fine := r.mixed.match(f.Path) || isMakefile(f.Path) || f.readable() && f.Status == loop.FileModified
		if at := r.firstLost(f); !fine {
			r.addf(CheckChanged, f, 0, "a check runs this file, which was %s", f.fate())
		} else if at > 0 && !r.mixed.match(f.Path) {
			r.addf(CheckChanged, f, at, "a check runs this file, and lines of it were changed")
		}
	}
}

// deciding reports whether a check runs a file, or one in its directory.
func (r *report) deciding(file string) bool {
	return slices.ContainsFunc(r.in.Deciding, func(p string) bool {
		return file == p || strings.HasPrefix(file, strings.TrimSuffix(p, "/")+"/")
	})
}

// firstLost returns the first line that was taken out and stands nowhere else in the
// file; 0 is none.
func (r *report) firstLost(f *file) (at int) {
	are := counted(f.texts("+"))
	f.each("-", func(l *line) {
		key := normal(l.text)
		if are[key]--; are[key] < 0 && at == 0 && key != "" {
			at = l.at
		}
	})
	return at
}

package tamper

import (
	"slices"
	"strings"
)

// suppressions reports added comments and attributes that silence linters, type checkers
// or coverage, in any file.
func suppressions(r *report, f *file) {
	for _, h := range f.hunks {
		suppressionsIn(r, f, h)
	}
}

// suppressionsIn ignores a marker that moved with its line, and one on a line of which
// only the code was changed.
func suppressionsIn(r *report, f *file, h hunk) {
	var replaced []*line // removed lines with a marker, right above
	for _, l := range h.lines {
		switch {
		case l.op == ' ':
			replaced = nil
		case l.silences == "":
		case l.op == '-':
			replaced = append(replaced, l)
		default:
			if take(r.silenced, normal(l.text)) {
				continue
			}
			if n := kept(replaced, l); n >= 0 {
				replaced = slices.Delete(replaced, n, n+1)
				continue
			}
			r.addf(Suppressed, f, l.at, "%s was added, which silences a tool", l.silences)
		}
	}
}

// kept returns the index of the line that had the same marker, with the same words, on
// similar code; -1 for none.
func kept(lines []*line, now *line) int {
	const least, near = 0.5, 8
	return slices.IndexFunc(lines[:min(near, len(lines))], func(old *line) bool {
		return old.silences == now.silences && normal(old.comment) == normal(now.comment) && (old.comment == "") == (now.comment == "") &&
			shared(words(old.code), words(now.code)) >= least
	})
}

// words returns the names and numbers in some code.
func words(code string) []string {
	return strings.FieldsFunc(code, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r < 0x80
	})
}

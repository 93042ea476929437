package tamper

import "strings"

// suppressions reports comments and attributes that keep linters, type checkers
// and coverage quiet, wherever they were added.
func suppressions(r *report) {
	before := r.removed(func(l *line) string { return l.silences })
	for _, f := range r.files {
		for _, h := range f.hunks {
			suppressionsIn(r, f, h, before)
		}
	}
}

// suppressionsIn passes over a marker that moved with its line, and one on a line
// of which only the code was changed.
func suppressionsIn(r *report, f *file, h hunk, before map[string]int) {
	var replaced []*line // with a marker, right above
	for i := range h.lines {
		l := &h.lines[i]
		switch {
		case l.op == ' ':
			replaced = nil
		case l.silences == "":
		case l.op == '-':
			replaced = append(replaced, l)
		default:
			if take(before, normal(l.text)) {
				continue
			}
			if n := kept(replaced, l); n >= 0 {
				replaced = append(replaced[:n:n], replaced[n+1:]...)
				continue
			}
			r.addf(Suppressed, f, l.at, "%s was added, which silences a tool", l.silences)
		}
	}
}

// kept returns which of some lines had a line's marker, with the same words, on
// much the same code; -1 is none.
func kept(lines []*line, now *line) int {
	const most, near = 0.5, 8
	for i, old := range lines[:min(near, len(lines))] {
		if old.silences == now.silences && normal(old.comment) == normal(now.comment) && (old.comment == "") == (now.comment == "") &&
			shared(words(old.code), words(now.code)) >= most {
			return i
		}
	}
	return -1
}

// words are the names and numbers in a code.
func words(code string) []string {
	return strings.FieldsFunc(code, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r < 0x80
	})
}

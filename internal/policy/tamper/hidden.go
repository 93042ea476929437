package tamper

import (
	"strings"

	"codeloops/internal/loop"
)

// joined reports added lines that take the next one, which was there before, into their own
// command, comment or value.
func joined(r *report, f *file) {
	kind := RunnerChanged
	switch {
	case f.Status != loop.FileModified, f.lang != nil && !f.lang.Joins:
		return
	case f.test:
		kind = TestSkipped
	case !r.positional(f.Path) && !r.Builds.match(f.Path) && !r.Checks.match(f.Path) && !r.deciding(f.Path):
		return
	}
	for _, l := range joining(f) {
		r.addf(kind, f, l.at, "a line was added that takes the next one into it")
	}
}

// joining returns the added lines above an old one that go on in it.
func joining(f *file) (all []*line) {
	for _, h := range f.hunks {
		var old, now *line // the lines above, on each side
		for _, l := range h.lines {
			if l.op == ' ' && now != nil && now.op == '+' && joins(f, now) && !joins(f, old) && normal(l.text) != "" {
				all = append(all, now)
			}
			if l.op != '+' {
				old = l
			}
			if l.op != '-' {
				now = l
			}
		}
	}
	return all
}

// joins reports whether a line ends in a backslash that is not escaped.
func joins(f *file, l *line) bool {
	if l == nil {
		return false
	}
	text := l.text
	if f.lang != nil && f.lang.Line == "#" { // whose comments end with the line; in C and in makefiles they go on
		text = l.code
	}
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// lineEnds reports added lines of tests and scripts with a character that ends a line, and so a
// comment, for a compiler but not in a diff.
func lineEnds(r *report, f *file) {
	if f.lang == nil || !f.test && !r.Checks.match(f.Path) {
		return
	}
	for l := range f.alone("+", "-") {
		if strings.ContainsAny(l.text, "\r\u0085\u2028\u2029") || f.lang.has("x.java") && strings.Contains(strings.ToLower(l.text), `\u000`) {
			r.addf(TestSkipped, f, l.at, "a line was added with the end of a line in it that no diff shows")
		}
	}
}

// enclosed returns lines that were there before and that an added line now encloses, with
// that line: in a condition, a function or a definition.
func enclosed(f *file, opens, closes *probe) map[*line]*line {
	all, had := map[*line]*line{}, counted(f.texts("-"))
	for _, h := range f.hunks {
		depth, from := 0, 0 // of open blocks, and of the outermost one that by opened
		gone := 0           // openings that were removed right above, for which others came
		var by *line
		for _, l := range h.lines {
			step := deeper(l.text, opens, closes)
			if l.op == '-' {
				gone += max(0, step)
				continue
			}
			fresh := l.op == '+' && !take(had, normal(l.text))
			switch {
			case l.op == ' ':
				gone = 0
			case step > 0 && gone > 0:
				gone, fresh = gone-1, false
			}
			if depth = max(0, depth+step); depth < from {
				by, from = nil, 0
			}
			if step > 0 && fresh && by == nil {
				by, from = l, depth
			}
			if by != nil && !fresh {
				all[l] = by
			}
		}
	}
	return all
}

// deeper returns 1 for a line that opens a block, -1 for one that closes one, and 0 for one
// that does neither or both.
func deeper(text string, opens, closes *probe) int {
	switch begins, ends := opens.match(text), closes.match(text); {
	case begins == ends:
		return 0
	case begins:
		return 1
	}
	return -1
}

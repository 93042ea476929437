package tamper

import (
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// maxPatch is how much of one file's patch is read, in bytes. Nobody writes
// more by hand.
const maxPatch = 4 << 20

// A file is one changed file, its patch taken apart.
type file struct {
	loop.FileChange
	lang  *language // nil: none that is known
	test  bool      // what it holds is run by a test runner
	hunks []hunk
}

// A hunk is one part of a patch.
type hunk struct {
	heading string // the line that git shows behind "@@"
	lines   []line
}

// A line is one line of a hunk.
type line struct {
	op      byte   // ' ', '-' or '+'
	at      int    // its number in the old file for '-', else in the new one
	text    string // as it is
	code    string // without comments
	bare    string // the same with nothing in its string literals
	comment string
	sense
}

func read(f loop.FileChange, known tongues) *file {
	x := &file{FileChange: f, lang: known.of(f.Path)}
	x.test = known.isTest(f.Path, x.lang)
	x.hunks = hunks(f.Patch[:min(len(f.Patch), maxPatch)])
	if x.lang == nil {
		return x
	}
	for _, h := range x.hunks {
		for i := range h.lines {
			l := &h.lines[i]
			l.code, l.bare, l.comment = x.lang.split(l.text)
			l.sense = x.lang.senseOf(*l, x.test)
		}
	}
	return x
}

// hunks reads the unified format of diff; what does not look like it is passed
// over.
func hunks(patch string) []hunk {
	var all []hunk
	before, after := 0, 0
	for text := range strings.Lines(patch) {
		text = strings.TrimRight(text, "\r\n")
		if rest, ok := strings.CutPrefix(text, "@@ -"); ok {
			ranges, heading, _ := strings.Cut(rest, " @@")
			old, now, _ := strings.Cut(ranges, " +")
			before, after = start(old), start(now)
			all = append(all, hunk{heading: strings.TrimSpace(heading)})
			continue
		}
		if len(all) == 0 || text == "" || strings.IndexByte(" -+", text[0]) < 0 {
			continue
		}
		l := line{op: text[0], at: after, text: text[1:]}
		if l.op == '-' {
			l.at = before
		}
		if l.op != '+' {
			before++
		}
		if l.op != '-' {
			after++
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, l)
	}
	return all
}

// start reads the number that a range such as "12,3" begins with.
func start(s string) int {
	s, _, _ = strings.Cut(s, ",")
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return n
}

// each calls do for every line of the file that has one of the ops.
func (f *file) each(ops string, do func(h hunk, l line)) {
	for _, h := range f.hunks {
		for _, l := range h.lines {
			if strings.IndexByte(ops, l.op) >= 0 {
				do(h, l)
			}
		}
	}
}

// normal is a line as it is compared with others: indentation and the width of
// blanks tell nothing.
func normal(s string) string { return strings.Join(strings.Fields(s), " ") }

// readable reports whether the file has tests that can be told apart.
func (f *file) readable() bool { return f.test && f.lang != nil && f.lang.declare != nil }

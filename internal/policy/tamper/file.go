package tamper

import (
	"iter"
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// maxPatch bounds how much of one file's patch is read, in bytes. Nobody writes more by
// hand.
const maxPatch = 4 << 20

// A file is one changed file with its parsed patch.
type file struct {
	loop.FileChange
	lang      *language // nil: an unknown language
	test      bool      // a test runner runs it
	receives  bool      // tests that were somewhere else before are in it
	hunks     []hunk
	whole     bool           // the one hunk holds every line of the file
	were, are map[string]int // the words of each side, filled by renames
}

// A hunk is one part of a patch.
type hunk struct {
	heading string // what git shows after the "@@"
	from    int    // its first line in the new file
	lines   []*line
}

// A line is one line of a hunk.
type line struct {
	op   byte   // ' ', '-' or '+'
	at   int    // its line number: for '-' in the old file, else in the new one
	text string // verbatim
	far  bool   // not in the patch, but between its hunks

	parts
	sense

	of        *test  // the test that it is in, or that it declares, on its side of the patch
	quoted    bool   // it begins within a string literal
	swallowed int    // the line that opened the span around it, which only the new side has; 0: none
	in        *scope // the function around it
	unrun     bool   // it declares a test that no runner runs
	tested    bool   // it is in a part of the file that holds only tests
}

// read parses a patch, together with the file around it where that can be read: the
// meaning of a line may depend on one far above it.
func (d *detector) read(f loop.FileChange, in Tree) *file {
	x := &file{FileChange: f, lang: d.of(f.Path)}
	x.test = d.isTest(f.Path, x.lang) || x.lang != nil && (d.Setup.match(f.Path) || x.lang.Hooks.match(f.Patch))
	x.hunks = hunks(f.Patch[:min(len(f.Patch), maxPatch)])
	x.whole = f.Status != loop.FileModified
	if !x.whole && in.Read != nil && (x.test || d.positional(f.Path)) {
		if content, err := in.Read(f.Path); err == nil {
			x.spread(string(content))
		}
	}
	if x.lang != nil {
		x.lang.read(x)
	}
	if x.readable() {
		x.scopes()
	}
	return x
}

// spread joins all hunks into one, with the lines between them. It does nothing when the
// content does not match the patch.
func (f *file) spread(content string) {
	texts := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	all := make([]*line, 0, len(texts))
	upTo := func(next, at int) int {
		for ; next < at && next <= len(texts); next++ {
			all = append(all, &line{op: ' ', at: next, text: strings.TrimRight(texts[next-1], "\r"), far: true})
		}
		return next
	}
	next := 1
	for _, h := range f.hunks {
		next = upTo(next, h.from)
		for _, l := range h.lines {
			if l.op != '-' {
				if next > len(texts) || l.at != next || strings.TrimRight(texts[next-1], "\r") != l.text {
					return
				}
				next++
			}
			all = append(all, l)
		}
	}
	upTo(next, len(texts)+1)
	f.hunks, f.whole = []hunk{{from: 1, lines: all}}, true
}

// hunks parses a unified diff and skips all other lines.
func hunks(patch string) []hunk {
	var all []hunk
	before, after := 0, 0
	for text := range strings.Lines(patch) {
		text = strings.TrimRight(text, "\r\n")
		if rest, ok := strings.CutPrefix(text, "@@ -"); ok {
			ranges, heading, _ := strings.Cut(rest, " @@")
			old, now, _ := strings.Cut(ranges, " +")
			before, after = start(old), start(now)
			from := after
			if strings.HasSuffix(now, ",0") { // an empty range names the line above
				from++
			}
			all = append(all, hunk{heading: strings.TrimSpace(heading), from: from})
			continue
		}
		if len(all) == 0 || text == "" || strings.IndexByte(" -+", text[0]) < 0 {
			continue
		}
		l := &line{op: text[0], at: after, text: text[1:]}
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

// start returns the first line of a range such as "12,3".
func start(s string) int {
	s, _, _ = strings.Cut(s, ",")
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return n
}

// all yields every known line of the file.
func (f *file) all() iter.Seq[*line] {
	return func(yield func(*line) bool) {
		for _, h := range f.hunks {
			for _, l := range h.lines {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// each yields the lines of the patch that have one of the ops.
func (f *file) each(ops string) iter.Seq[*line] {
	return func(yield func(*line) bool) {
		for l := range f.all() {
			if !l.far && strings.IndexByte(ops, l.op) >= 0 && !yield(l) {
				return
			}
		}
	}
}

// texts returns the normalized lines of the patch that have one of the ops.
func (f *file) texts(ops string) (all []string) {
	for l := range f.each(ops) {
		all = append(all, normal(l.text))
	}
	return all
}

// alone yields the lines with one op that have no equal among those with the other.
func (f *file) alone(op, other string) iter.Seq[*line] {
	return func(yield func(*line) bool) {
		has := counted(f.texts(other))
		for l := range f.each(op) {
			if !take(has, normal(l.text)) && !yield(l) {
				return
			}
		}
	}
}

// tally counts the names in the lines of each side.
func (f *file) tally(names func(l *line) []string) (were, are map[string]int) {
	were, are = map[string]int{}, map[string]int{}
	for l := range f.all() {
		for _, name := range names(l) {
			if l.op != '+' {
				were[name]++
			}
			if l.op != '-' {
				are[name]++
			}
		}
	}
	return were, are
}

// normal returns a line without indentation and with single blanks, for comparisons.
func normal(s string) string { return strings.Join(strings.Fields(s), " ") }

// readable reports whether individual tests of the file can be recognized.
func (f *file) readable() bool { return f.test && f.lang != nil && f.lang.Declare != nil }

// executable reports whether the file is now a program, or a link that may lead to one.
func executable(f *file) bool { return f.NewMode == 0o100755 || f.NewMode == 0o120000 }

// fate says what happened to a file as a whole.
func (f *file) fate() string {
	switch {
	case f.Status == loop.FileDeleted:
		return "removed"
	case f.Status == loop.FileAdded:
		return "added"
	case f.Binary:
		return "changed"
	}
	return "changed: +" + strconv.Itoa(f.Insertions) + " -" + strconv.Itoa(f.Deletions) + " lines"
}

// filesOf returns the files of a change as they are on disk: with the text of those that
// git takes for binary or converts, and with those that git ignores.
func filesOf(c loop.Change) []loop.FileChange {
	type key struct {
		path   string
		status loop.FileStatus
	}
	unshown := map[key]loop.Unshown{}
	for _, u := range c.Unshown {
		unshown[key{u.Path, u.Status}] = u
	}
	files := make([]loop.FileChange, 0, len(c.Files)+len(c.Unshown))
	for _, f := range c.Files {
		if u, there := unshown[key{f.Path, f.Status}]; there {
			if u.Text != "" {
				f.Patch = u.Text
			}
			delete(unshown, key{f.Path, f.Status})
		}
		files = append(files, f)
	}
	for _, u := range c.Unshown {
		if _, left := unshown[key{u.Path, u.Status}]; left {
			files = append(files, loop.FileChange{Path: u.Path, Status: u.Status, Patch: u.Text})
		}
	}
	return files
}

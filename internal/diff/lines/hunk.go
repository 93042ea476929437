package lines

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

const (
	contextLines   = 3
	functionLimit  = 80 // bytes
	noNewlineAtEnd = "\n\\ No newline at end of file\n"
)

// A span is lines start to end of one side, end not included.
type span struct{ start, end int }

func (s span) size() int { return s.end - s.start }

// String counts lines from one; an empty span is named by the line before it.
func (s span) String() string {
	switch s.size() {
	case 0:
		return fmt.Sprintf("%d,0", s.start)
	case 1:
		return strconv.Itoa(s.start + 1)
	}
	return fmt.Sprintf("%d,%d", s.start+1, s.size())
}

// An edit replaces lines of one side by lines of the other.
type edit struct{ a, b span }

// A printer appends hunks.
type printer struct {
	a, b     *side
	dst      []byte
	function []byte // the last function line above the current hunk
	searched int    // the lines that were searched for it
}

func appendHunks(dst []byte, a, b *side) (text []byte, insertions, deletions int) {
	p := printer{a: a, b: b, dst: dst}
	var hunk []edit
	before, after := firstRun(a), firstRun(b)
	for more := true; more; more = before.next() && after.next() {
		e := edit{before.span, after.span}
		if e.a.size()+e.b.size() == 0 {
			continue
		}
		if len(hunk) > 0 && e.a.start-hunk[len(hunk)-1].a.end > 2*contextLines {
			p.hunk(hunk)
			hunk = hunk[:0]
		}
		hunk = append(hunk, e)
		deletions += e.a.size()
		insertions += e.b.size()
	}
	if len(hunk) > 0 {
		p.hunk(hunk)
	}
	return p.dst, insertions, deletions
}

// hunk appends the edits of one hunk with the lines around and between them.
func (p *printer) hunk(edits []edit) {
	first, last := edits[0], edits[len(edits)-1]
	lead := min(contextLines, first.a.start, first.b.start)
	trail := min(contextLines, p.a.count()-last.a.end, p.b.count()-last.b.end)
	whole := edit{
		span{first.a.start - lead, last.a.end + trail},
		span{first.b.start - lead, last.b.end + trail},
	}
	p.header(whole)
	at := whole.b.start
	for _, e := range edits {
		p.lines(' ', p.b, span{at, e.b.start})
		p.lines('-', p.a, e.a)
		p.lines('+', p.b, e.b)
		at = e.b.end
	}
	p.lines(' ', p.b, span{at, whole.b.end})
}

func (p *printer) header(whole edit) {
	p.dst = fmt.Appendf(p.dst, "@@ -%s +%s @@", whole.a, whole.b)
	if f := p.functionAbove(whole.a.start); len(f) > 0 {
		p.dst = append(p.dst, ' ')
		p.dst = append(p.dst, f...)
	}
	p.dst = append(p.dst, '\n')
}

func (p *printer) lines(mark byte, s *side, lines span) {
	for i := lines.start; i < lines.end; i++ {
		line := s.line(i)
		p.dst = append(p.dst, mark)
		p.dst = append(p.dst, line...)
		if line[len(line)-1] != '\n' {
			p.dst = append(p.dst, noNewlineAtEnd...)
		}
	}
}

// functionAbove returns the text of the last line above line i of a that starts
// with a letter, an underscore or a dollar sign.
func (p *printer) functionAbove(i int) []byte {
	for l := i - 1; l >= p.searched; l-- {
		line := p.a.line(l)
		if c := line[0]; 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' {
			p.function = functionText(line)
			break
		}
	}
	p.searched = max(i, p.searched)
	return p.function
}

// functionText cuts a line to what fits, first without white space at the end,
// then at the first byte that is not UTF-8, which may be what the cut has left
// of a character.
func functionText(line []byte) []byte {
	text := bytes.TrimRight(line[:min(len(line), functionLimit)], " \t\r\n")
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || r == 0xfffe || r == 0xffff {
			return text[:i]
		}
		i += size
	}
	return text
}

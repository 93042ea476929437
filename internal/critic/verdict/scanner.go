package verdict

import (
	"iter"
	"strings"

	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// A line is one line of a reply, by offsets into it.
type line struct {
	start, end int    // end is before the line break
	text       string // without the line break
	own        bool   // in the writer's own words, no quotation
}

// A scanner goes through the lines of a reply, and tells the writer's own words from
// quotations.
type scanner struct {
	text     string
	boundary prompt.Boundary

	pos    int
	within bool // inside the boundary
	torn   bool // the boundary's lines do not pair
	fence  fence
}

// A fence is a fenced code block (CommonMark 0.31, 4.5), with two liberties that models
// take: any indentation, and an opening after other words.
type fence struct {
	mark     byte
	size     int  // of the opening; 0: there is no fence
	at       int  // the offset of the opening line
	from, to int  // the content; to is 0 while the fence is open
	followed bool // text follows the fence
}

func (f fence) open() bool { return f.size > 0 && f.to == 0 }

// lines yields the lines that are left.
func (s *scanner) lines() iter.Seq[line] {
	return func(yield func(line) bool) {
		for s.pos < len(s.text) {
			l := line{start: s.pos, end: len(s.text)}
			if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
				l.end = s.pos + i
			}
			l.text = s.text[l.start:l.end]
			s.pos = min(l.end+1, len(s.text))
			l.own = s.own(l)
			if !yield(l) {
				return
			}
		}
	}
}

// skipTo continues with the line after the one that holds the offset.
func (s *scanner) skipTo(offset int) {
	s.pos = len(s.text)
	if i := strings.IndexByte(s.text[offset:], '\n'); i >= 0 {
		s.pos = offset + i + 1
	}
}

func (s *scanner) own(l line) bool {
	if !s.fence.open() && l.text != "" && !tagLine(l.text) {
		s.fence.followed = true
	}
	switch {
	case s.boundary.In(l.text):
		s.cross(l.text)
		return false
	case s.within:
		return false
	case s.fence.open():
		if s.fence.closes(l.text) {
			s.fence.to = l.start
		}
		return false
	case strings.HasPrefix(strings.TrimLeftFunc(l.text, blank), ">"):
		return false
	}
	if mark, size, first := opening(l.text); size > 0 {
		s.fence = fence{mark: mark, size: size, at: l.start, from: s.pos}
		return !first
	}
	return true
}

// cross handles a line with the boundary's name in it.
func (s *scanner) cross(text string) {
	if opens := s.boundary.Opens(text); opens || s.boundary.Closes(text) {
		s.torn = s.torn || s.within == opens
		s.within = opens
	}
}

// finalFence returns the content of a fence at the end of the reply.
func (s *scanner) finalFence() (content string, ok bool) {
	f := s.fence
	if f.size == 0 || f.followed {
		return "", false
	}
	to := f.to
	if f.open() {
		to = len(s.text)
	}
	content = s.text[min(f.from, to):to]
	return content, !s.boundary.In(content)
}

func (f fence) closes(text string) bool {
	text = strings.Trim(text, " \t")
	return len(text) >= f.size && strings.Trim(text, string(f.mark)) == ""
}

// ticks matches a run of back-ticks that may open a fence.
var ticks = wording.Pattern("```+")

// opening returns the mark and size of the fence that a line opens, at its start (first) or
// with an unpaired run of back-ticks at its end; size is 0 for none.
func opening(text string) (mark byte, size int, first bool) {
	start := strings.TrimLeft(text, " \t")
	for _, mark := range []byte("`~") {
		n := len(start) - len(strings.TrimLeft(start, string(mark)))
		if n >= 3 && (mark == '~' || strings.IndexByte(start[n:], '`') < 0) {
			return mark, n, true
		}
	}
	last := strings.LastIndex(text, "```")
	if last < 0 || strings.ContainsAny(text[last+3:], " \t`") || len(ticks().FindAllStringIndex(text, -1))%2 == 0 {
		return 0, 0, false
	}
	head := strings.TrimRight(text[:last], "`")
	return '`', last + 3 - len(head), false
}

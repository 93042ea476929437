package tamper

import "strings"

// A span is a comment or a string literal that may extend over several lines.
type span struct {
	Begin, End string
	Quoted     bool // a string literal
}

// read splits the lines of a file into code and comments, and works out what they mean.
//
// Comments and strings are tracked for each side of the patch separately. A line still
// counts as code unless it is new and in a span that the change opened: when a character
// is mistaken for the start of a string, the tests below it must not be lost.
func (l *language) read(f *file) {
	for _, h := range f.hunks {
		var was, is *span
		opened := 0 // the line that opened a span on the new side only
		for _, x := range h.lines {
			if is == nil || was != nil {
				opened = 0
			} else if opened == 0 {
				opened = x.at
			}
			was, is = l.step(x, was, is)
			if x.op != '-' && opened > 0 {
				x.swallowed = opened
			} else if x.op == '+' && is != nil && opened == 0 {
				opened = x.at
			}
			x.sense = l.senseOf(x, f.test)
		}
		if f.readable() {
			l.statements(h)
		}
	}
}

// statements reads assertions that span several lines as a whole, since the comparison
// may be in a later line.
func (l *language) statements(h hunk) {
	const most = 12 // lines
	for i, x := range h.lines {
		open := depth(x.bare)
		if !x.asserts || open <= 0 {
			continue
		}
		whole := *x
		for n := i + 1; n < len(h.lines) && n < i+most && open > 0; n++ {
			if next := h.lines[n]; next.op == x.op || next.op == ' ' {
				whole.code, whole.bare = whole.code+" "+strings.TrimSpace(next.code), whole.bare+" "+strings.TrimSpace(next.bare)
				open += depth(next.bare)
			}
		}
		x.claim = l.claimOf(&whole)
	}
}

// depth returns how many brackets a line leaves open.
func depth(bare string) (n int) {
	for i := range len(bare) {
		switch bare[i] {
		case '(', '[':
			n++
		case ')', ']':
			n--
		}
	}
	return n
}

// step splits a line and returns the spans that are open after it, on the old and the
// new side.
func (l *language) step(x *line, was, is *span) (*span, *span) {
	open, swallows := was, x.op == '+' && is != nil && was == nil
	if x.op == '+' {
		open = is
	}
	x.quoted = open != nil && open.Quoted && !swallows
	var behind *span
	x.parts, behind = l.split(x.text, nil)
	after := func(open *span) *span {
		if open == nil {
			return behind
		}
		parts, then := l.split(x.text, open)
		if swallows {
			x.parts = parts
		}
		return then
	}
	if x.op != '+' {
		was = after(was)
	}
	if x.op != '-' {
		is = after(is)
	}
	return was, is
}

// parts are the code and the comment of a line.
type parts struct {
	code    string // without comments
	bare    string // code with its string literals blanked
	comment string
}

// split splits a line that begins within a span (nil for none), and returns the span
// that is open after it.
func (l *language) split(text string, open *span) (parts, *span) {
	if open == nil && l.Block && starred(text) {
		return parts{comment: text}, nil
	}
	s := splitter{language: l, text: text, open: open}
	for s.at < len(text) && s.next() {
	}
	return parts{s.code.String(), s.bare.String(), s.comment}, s.open
}

// A splitter goes through a line.
type splitter struct {
	*language
	text string
	at   int
	open *span

	code, bare strings.Builder
	comment    string
}

// next reads one token; false ends the line.
func (s *splitter) next() bool {
	if s.open != nil {
		return s.within("")
	}
	rest := s.text[s.at:]
	for i := range s.Spans {
		if open := &s.Spans[i]; strings.HasPrefix(rest, open.Begin) {
			if open.Quoted && s.Documents && strings.TrimSpace(s.bare.String()) == "" {
				open = &span{Begin: open.Begin, End: open.End}
			}
			s.open = open
			s.at += len(open.Begin)
			return s.within(open.Begin)
		}
	}
	if s.Line != "" && strings.HasPrefix(rest, s.Line) {
		s.comment += rest
		return false
	}
	if strings.IndexByte(s.Quotes, rest[0]) >= 0 {
		s.literal(rest)
		return true
	}
	s.take(rest[:1], rest[:1])
	return true
}

func (s *splitter) take(code, bare string) {
	s.code.WriteString(code)
	s.bare.WriteString(bare)
	s.at += len(code)
}

// within reads to the end of the open span or of the line; begin is the text that opened
// the span, "" when an earlier line did.
func (s *splitter) within(begin string) bool {
	inner, _, ended := strings.Cut(s.text[s.at:], s.open.End)
	open, end := s.open, ""
	if ended {
		s.open, end = nil, open.End
	}
	s.at += len(inner) + len(end)
	if !open.Quoted {
		s.comment += inner + " "
		return ended
	}
	if begin == "" {
		inner = ""
	}
	s.code.WriteString(begin + inner + end)
	s.bare.WriteString(begin + strings.Repeat(" ", len(inner)) + end)
	return ended
}

// literal reads a string literal that ends in its line.
func (s *splitter) literal(rest string) {
	end := literalEnd(rest)
	whole := rest[:min(end+1, len(rest))]
	s.take(whole, whole[:1]+strings.Repeat(" ", end-1)+whole[end:])
}

// literalEnd returns the offset of the closing quote of the string literal that a text
// begins with, or the end of the text.
func literalEnd(text string) int {
	end := 1
	for end < len(text) && text[end] != text[0] {
		if text[end] == '\\' {
			end++
		}
		end++
	}
	return min(end, len(text))
}

// starred reports whether a line looks like one in the middle of a /* */ comment.
func starred(text string) bool {
	text = strings.TrimSpace(text)
	return text == "*" || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "*/")
}

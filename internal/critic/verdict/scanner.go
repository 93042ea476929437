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
	mark     string // of the opening; "": there is no fence
	at       int    // the offset of the opening line
	from, to int    // the content; to is 0 while the fence is open
	followed bool   // text follows the fence
}

func (f fence) open() bool { return f.mark != "" && f.to == 0 }

// promptPart matches a boundary line of a prompt.
var promptPart = wording.Pattern(`\[([0-9a-f]{24}) (begin|end): `)

// scannerOf returns the scanner of a reply, which may repeat a part of its prompt.
func scannerOf(reply string) *scanner {
	s := &scanner{text: clean(reply)}
	if at := promptPart().FindStringSubmatch(s.text); at != nil {
		s.boundary = prompt.Boundary(at[1])
	}
	return s
}

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
	if !s.fence.open() && l.text != "" && !tag().MatchString(l.text) {
		s.fence.followed = true
	}
	switch {
	case s.boundary.In(l.text):
		if opens := s.boundary.Opens(l.text); opens || s.boundary.Closes(l.text) {
			s.torn = s.torn || s.within == opens
			s.within = opens
		}
		return false
	case s.within:
		return false
	case s.fence.open():
		if closes := strings.Trim(l.text, " \t"); len(closes) >= len(s.fence.mark) && strings.Trim(closes, s.fence.mark[:1]) == "" {
			s.fence.to = l.start
		}
		return false
	case strings.HasPrefix(strings.TrimLeftFunc(l.text, blank), ">"):
		return false
	}
	mark, first := opening(l.text)
	if mark != "" {
		s.fence = fence{mark: mark, at: l.start, from: s.pos}
	}
	return !first
}

// finalFence returns the content of a fence at the end of the reply.
func (s *scanner) finalFence() (content string, ok bool) {
	f := s.fence
	if f.mark == "" || f.followed {
		return "", false
	}
	if f.open() {
		f.to = len(s.text)
	}
	content = s.text[min(f.from, f.to):f.to]
	return content, !s.boundary.In(content)
}

var (
	fenceLine = wording.Pattern("^[ \t]*(?:(`{3,})[^`]*|(~{3,}).*)$")
	ticks     = wording.Pattern("`{3,}")
)

// opening returns the mark of the fence that a line opens, at its start (first) or with an unpaired
// run of back-ticks at its end; "" for none.
func opening(text string) (mark string, first bool) {
	if m := fenceLine().FindStringSubmatch(text); m != nil {
		return m[1] + m[2], true
	}
	runs := ticks().FindAllStringIndex(text, -1)
	if len(runs)%2 == 0 {
		return "", false
	}
	last := runs[len(runs)-1]
	if strings.ContainsAny(text[last[1]:], " \t`") {
		return "", false
	}
	return text[last[0]:last[1]], false
}

// The tags that may enclose a decision, on lines of their own or around an object.
const (
	openTag  = "<decision>"
	closeTag = "</decision>"
)

var tag = wording.Pattern(`(?i)^\s*</?decision>\s*$`)

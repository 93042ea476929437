package tamper

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A file is a changed file with tests.
type file struct {
	loop.FileChange
	lang     *language
	unlooked bool // no test runner looks there, or not everywhere
	old, now side
}

// A side is one side of a file: its tests by name, and under "" what is outside of them.
type side struct {
	tests map[string]*test
	names []string // in the order of the file
}

// A test is a test on one side of a change.
type test struct {
	name    string
	at      int    // its line
	lines   []line // with the lines above that belong to it
	asserts int
	skips   map[string]int // by what skips
}

// read parses a file with tests.
func (l *language) read(f loop.FileChange, content string) *file {
	all := lines(f, content)
	return &file{f, l, l.Unlooked.match(f.Path), l.side(all, '+'), l.side(all, '-')}
}

// side sorts the lines of one side into tests; skip is the op of the lines that only the other has.
func (l *language) side(all []line, skip byte) side {
	s := side{tests: map[string]*test{}}
	in, indent := s.at("", 0), 0
	var above []line // attributes of what follows
	inside := false  // a comment, or a text of several lines
	for _, x := range all {
		if x.op == skip {
			continue
		}
		text := x.text
		was := inside
		if inside = l.encloses(text, inside); was {
			l.take(in, x, true)
			continue
		}
		if name := l.declared(text, above); name != "" {
			in, indent = s.at(name, x.at), wording.Indent(text)
		} else if attribute(text) {
			above = append(above, x)
			continue
		} else if in.name != "" && wording.Indent(text) <= indent && l.Ends.match(text) {
			in = s.at("", 0)
		}
		for _, x := range append(above, x) {
			l.take(in, x, false)
		}
		above = nil
	}
	for _, x := range above {
		l.take(in, x, false)
	}
	return s
}

// encloses reports whether a comment or a text of several lines goes on after a line.
func (l *language) encloses(text string, inside bool) bool {
	if len(l.Encloses) != 2 || !inside && l.comments(text) {
		return inside
	}
	begin, end := l.Encloses[0], l.Encloses[1]
	if begin == end {
		return inside != (strings.Count(text, begin)%2 == 1)
	}
	if !inside {
		text = bare(text)
	}
	opens, closes := strings.LastIndex(text, begin), strings.LastIndex(text, end)
	return opens > closes || inside && closes < 0
}

func (s *side) at(name string, line int) *test {
	t := s.tests[name]
	if t == nil {
		t = &test{name: name, at: line, skips: map[string]int{}}
		s.tests[name] = t
		if name != "" {
			s.names = append(s.names, name)
		}
	}
	return t
}

// declared returns the name of the test that a line declares, "" for none.
func (l *language) declared(text string, above []line) string {
	if l.comments(text) {
		return ""
	}
	name := l.Declares.name(text)
	if name == "" || l.Marked.Regexp == nil || l.Marked.match(text) ||
		slices.ContainsFunc(above, func(x line) bool { return l.Marked.match(x.text) }) {
		return name
	}
	return ""
}

func (l *language) comments(text string) bool {
	return l.Comment != "" && strings.HasPrefix(strings.TrimSpace(text), l.Comment)
}

// attribute reports whether a line belongs to the declaration below it.
func attribute(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "@") || strings.HasPrefix(text, "#[") || strings.HasPrefix(text, "[")
}

// take adds a line to a test; quoted: in a comment or a text it claims nothing.
func (l *language) take(t *test, x line, quoted bool) {
	t.lines = append(t.lines, x)
	if quoted {
		return
	}
	if skip := l.skipper(x.text); skip != "" {
		t.skips[skip]++
	}
	if l.claims(x.text) {
		t.asserts++
	}
}

// claims reports whether a line is an assertion.
func (l *language) claims(text string) bool {
	at := l.Asserts.find(bare(text))
	return at != "" && (!l.comments(text) || strings.HasPrefix(strings.TrimSpace(at), l.Comment))
}

// skipper returns what skips tests in a line, "" for nothing.
func (l *language) skipper(text string) string {
	skip := l.Skips.find(bare(text))
	if l.comments(text) && !strings.HasPrefix(strings.TrimSpace(skip), l.Comment) {
		return ""
	}
	return strings.TrimSpace(skip)
}

// changed returns the lines of a test that the other side does not have there, apart from comments
// and layout.
func (l *language) changed(t, other *test) (all []line) {
	had := map[string]int{}
	if other != nil {
		for _, x := range other.lines {
			had[normal(x.text)]++
		}
	}
	for _, x := range t.lines {
		if text := normal(x.text); text != "" && (!l.comments(x.text) || l.claims(x.text)) && !l.Imports.match(x.text) && !take(had, text) {
			all = append(all, x)
		}
	}
	return all
}

// normal returns a line without indentation and with single blanks.
func normal(s string) string { return strings.Join(strings.Fields(s), " ") }

// take decrements the count of a text, and reports whether any was left.
func take(n map[string]int, text string) bool {
	n[text]--
	if n[text] < 0 {
		n[text] = 0
		return false
	}
	return true
}

// token matches a literal, a name or a comparison.
var token = wording.Pattern("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`|[\\pL_][\\pL\\pN_]*|\\pN[\\pL\\pN_.]*|[=!]==?|[<>]=?")

// bare returns a line without what its texts hold.
func bare(text string) string { return quotation().ReplaceAllString(text, `""`) }

var quotation = wording.Pattern("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'")

// literal matches the tokens that are values.
var literal = wording.Pattern("^(?:[\"'`\\pN]|(?i:true|false|none|nil|null)$)")

// values returns what lines of a test check: every word of an assertion and of a comparison, and the
// literals of all other lines.
func (l *language) values(all []line) (values []string) {
	for _, x := range all {
		whole := l.claims(x.text) || l.Compares.match(x.text)
		for _, word := range tokens(x.text) {
			if whole || literal().MatchString(word) {
				values = append(values, word)
			}
		}
	}
	return values
}

func tokens(text string) []string {
	const most = 4 << 10 // of a line
	return token().FindAllString(text[:min(len(text), most)], -1)
}

// without returns the texts of a that are not in b, each as often as it is missing.
func without(a, b []string) (left []string) {
	has := map[string]int{}
	for _, s := range b {
		has[s]++
	}
	for _, s := range a {
		if !take(has, s) {
			left = append(left, s)
		}
	}
	return left
}

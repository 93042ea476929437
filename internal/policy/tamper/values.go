package tamper

import (
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/wording"
)

// values recognize literals in a line, and names that stand for one.
type values struct {
	Literal *probe
	Names   *probe // messages and test names, which say nothing about a result
	Wants   *probe // expected results
	Reason  *probe // a Python assertion with its failure message
	Asks    *probe // a condition
	Guards  *probe // a condition, a function, or a loop over nothing
	Wraps   *probe // what ends before code that may run later, or not at all
	Narrows *probe // a part of what a loop goes through
	Loops   *probe // a loop
	Breaks  *probe // what a break ends
	Row     *probe // the form of a line that holds only values
}

// of returns the values in a line, and the line without them.
func (v values) of(f *file, l *line) (form string, all []string) {
	text := l.code
	if f.lang == nil {
		text = l.text
	}
	if l.quoted || printed(l) {
		return "¤", []string{strconv.Quote(normal(l.text))}
	}
	if f.lang.has("x.py") {
		text = v.Reason.expression().ReplaceAllString(text, "$1")
	}
	var b strings.Builder
	from := 0
	for _, at := range v.Literal.expression().FindAllStringIndex(text, -1) {
		value := text[at[0]:at[1]]
		if value[0] == ':' && !f.lang.has("x.rb") {
			continue
		}
		if !name(value) || v.expect(l) && standsAlone(text[at[1]:]) {
			b.WriteString(text[from:at[0]] + "¤")
			from, all = at[1], append(all, value)
		}
	}
	b.WriteString(text[from:])
	return normal(b.String()), all
}

// name reports whether a value is a capitalized name, of a constant or a type.
func name(value string) bool {
	return value[0] >= 'A' && value[0] <= 'Z' && !slices.Contains([]string{"True", "False", "None", "Ok", "Err", "Some"}, value)
}

// standsAlone reports whether what follows a name shows that it is a value, and not
// called or used in a declaration.
func standsAlone(rest string) bool {
	rest = strings.TrimPrefix(strings.TrimLeft(rest, " "), ".class")
	return rest == "" || strings.IndexByte("),;:]{", rest[0]) >= 0
}

// printed reports whether a line is expected output of a Go example, in a comment.
func printed(l *line) bool {
	return strings.HasPrefix(l.in.name(), "Example") && strings.TrimSpace(l.code) == "" && l.comment != ""
}

// imports reports whether a line of Go is only an import path; a row of a table would
// have a comma.
func imports(f *file, l *line) bool {
	return f.lang.has("x.go") && l.in == nil && strings.Count(l.code, `"`) == 2 && !strings.Contains(l.code, "=") && strings.HasSuffix(l.code, `"`)
}

// matter reports whether the values of a line matter: those in declarations, messages
// and comments do not.
func (v values) matter(f *file, l *line) bool {
	if l.quoted || printed(l) {
		return true
	}
	if f.lang == nil {
		return strings.TrimSpace(l.text) != ""
	}
	return strings.TrimSpace(l.code) != "" && !imports(f, l) && l.declares == "" && !l.says && !v.Names.match(l.code)
}

// expect reports whether a line states an expected result.
func (v values) expect(l *line) bool {
	return l.asserts || l.exact || l.loose || v.Wants.match(l.code)
}

// silent reports whether a line neither states an expected result nor tests a condition.
func (v values) silent(l *line) bool { return !v.expect(l) && !v.Asks.match(l.code) }

// without returns the members of a that b lacks.
func without(a, b []string) (rest []string) {
	has := counted(b)
	for _, s := range a {
		if !take(has, s) {
			rest = append(rest, s)
		}
	}
	return rest
}

// several lists a few values, quoted and shortened.
func several(all []string) string {
	const most = 3
	if len(all) == 0 {
		return "nothing"
	}
	var shown []string
	for _, s := range all[:min(most, len(all))] {
		if inner := strings.Trim(s, "\"'`"); inner != s {
			s = strconv.QuoteToGraphic(clipped(inner, maxValue))
		} else {
			s = Quote(s, maxValue)
		}
		shown = append(shown, s)
	}
	return wording.List(append(shown, all[len(shown):]...), most)
}

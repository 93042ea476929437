package tamper

import (
	"slices"
	"strconv"
	"strings"
)

// Values are how literals, and names that stand for one, are told in a line.
type values struct {
	literal *probe
	names   *probe // of messages, which tell nothing about a result
	wants   *probe // of what must come out
	reason  *probe // an assertion of Python, with what it says when it fails
	asks    *probe // a condition
	guards  *probe // a condition, or a loop over nothing
	narrows *probe // takes a part of what a loop goes through
	loops   *probe // goes through something
	breaks  *probe // what a break ends
	row     *probe // the form of a line that is nothing but values
}

func newValues() values {
	return values{
		literal: re(`"""(?:[^"]|"[^"]|""[^"])*(?:"""|$)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*(?:`|$)" +
			`|\b0[xXbo][0-9a-fA-F_]+\b|\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b` +
			`|:[a-z_]\w*[?!]?|\b(?:true|false|True|False|None|nil|null|undefined|NaN|Infinity|Ok|Err|Some)\b|\b[A-Z]\w*\b`),
		reason:  re(`^(\s*assert\b.*),\s*f?(?:"[^"]*"|'[^']*')\s*$`),
		names:   re(`^\s*["']?(?:name|desc(?:ription)?|title|msg|message|comment|label|id|summary|reason)["']?\s*[:=]`),
		wants:   re(`(?i)\b(?:want\w*|expect\w*|exp|golden|correct)\b["']?\s*(?::=|[:=,)])`),
		asks:    re(`^\s*(?:\}\s*else\s+)?(?:if|elif|assert|unless)\b`),
		guards:  re(`^\s*(?:if|unless|when|elif|\}\s*else\s+if)\b|^\s*for\b.*(?:\bin\s*(?:\[\]|\(\)|\{\}|range\(0\))\s*:|\brange\s+\[\]\w+\{\}\s*\{|\bof\s*\[\]\s*\))`),
		narrows: re(`[\w)\]]\[[^\]{,]*:[^\]{,]*\]|\.(?:slice|filter|take|skip|first|limit|reject|select)\b|\b(?:islice|filter)\(|\bif\b`),
		loops:   re(`^\s*for\b|\.(?:each|forEach|each_with_index)\b|\bparametrize\(`),
		breaks:  re(`^\s*(?:for|while|loop|select|switch|case|default)\b`),
		row:     re(`^(?:[^\w¤]|¤|\b\w+\s*:|\b(?:param|case|test|each|of|arguments|parametrize|pytest|mark|InlineData|TestCase|Row|CsvSource|ValueSource|rstest|strings|ints)\b)*¤(?:[^\w¤]|¤|\b\w+\s*:|\b(?:param|of|arguments)\b)*$`),
	}
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
	if f.lang != nil && f.lang.has("x.py") {
		text = v.reason.expression().ReplaceAllString(text, "$1")
	}
	var b strings.Builder
	from := 0
	for _, at := range v.literal.expression().FindAllStringIndex(text, -1) {
		value := text[at[0]:at[1]]
		if value[0] == ':' && (f.lang == nil || !f.lang.has("x.rb")) {
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

// name reports whether a value is a name with a capital letter, of a constant or of
// a type.
func name(value string) bool {
	return value[0] >= 'A' && value[0] <= 'Z' && !slices.Contains([]string{"True", "False", "None", "Ok", "Err", "Some"}, value)
}

// standsAlone reports whether a name is a value by what follows it: it is not
// called, and nothing is declared by it.
func standsAlone(rest string) bool {
	rest = strings.TrimPrefix(strings.TrimLeft(rest, " "), ".class")
	return rest == "" || strings.IndexByte("),;:]{", rest[0]) >= 0
}

// printed reports whether a line is what an example of Go must print, which stands
// in a comment.
func printed(l *line) bool {
	return strings.HasPrefix(l.in.name(), "Example") && strings.TrimSpace(l.code) == "" && l.comment != ""
}

// imports reports whether a line of Go is nothing but the path of a package: a row of
// a table has a comma.
func imports(f *file, l *line) bool {
	return f.lang.has("x.go") && l.in == nil && strings.Count(l.code, `"`) == 2 && !strings.Contains(l.code, "=") && strings.HasSuffix(l.code, `"`)
}

// matter reports whether the values of a line do: not those of names, of messages
// and of comments.
func (v values) matter(f *file, l *line) bool {
	if l.quoted || printed(l) {
		return true
	}
	if f.lang == nil {
		return strings.TrimSpace(l.text) != ""
	}
	return strings.TrimSpace(l.code) != "" && !imports(f, l) && l.declares == "" && !l.says && !v.names.match(l.code)
}

// expect reports whether a line says what must come out.
func (v values) expect(l *line) bool {
	return l.asserts || l.exact || l.loose || v.wants.match(l.code)
}

// silent reports whether a line neither says what must come out nor asks for it.
func (v values) silent(l *line) bool { return !v.expect(l) && !v.asks.match(l.code) }

// without returns those of a that b has not.
func without(a, b []string) (rest []string) {
	has := counted(b)
	for _, s := range a {
		if has[s]--; has[s] < 0 {
			rest = append(rest, s)
		}
	}
	return rest
}

// several shows a few values, quoted and clipped.
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
	text := strings.Join(shown, ", ")
	if more := len(all) - most; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

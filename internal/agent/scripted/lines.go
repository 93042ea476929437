package scripted

import (
	"fmt"
	"regexp"
	"strings"
)

// tomlToken matches the tokens of TOML 1.0 (https://toml.io/en/v1.0.0) as far as positions
// depend on them: the four kinds of string, comments, line ends, punctuation, and
// everything else as one bare word.
const tomlToken = `(?s:` +
	`"""(?:[^"\\]|\\.|"{1,2}[^"\\]|"{1,2}\\.)*"{3,5}` +
	`|'''(?:[^']|'{1,2}[^'])*'{3,5}` +
	`|"(?:[^"\\\n]|\\.)*"` +
	`|'[^'\n]*'` +
	`|#[^\n]*` +
	`|\n` +
	`|[\[\]{}=,]` +
	`|[^\s\[\]{}=,#"']+)`

// lines returns the line of every table, array element and key of a valid TOML document,
// by its path, such as "actor[1].step[0].write". The decoder keeps no positions inside
// arrays of tables, of which scenarios mostly consist.
func lines(document string) map[string]int {
	w := &walker{line: map[string]int{}, tables: map[string]int{}}
	at, line := 0, 1
	for _, span := range regexp.MustCompile(tomlToken).FindAllStringIndex(document, -1) {
		line += strings.Count(document[at:span[0]], "\n")
		w.tokens = append(w.tokens, token{document[span[0]:span[1]], line})
		line += strings.Count(document[span[0]:span[1]], "\n")
		at = span[1]
	}
	w.document()
	return w.line
}

type token struct {
	text string
	line int
}

// A walker goes through the tokens once and notes where each path begins.
type walker struct {
	tokens []token
	line   map[string]int
	tables map[string]int // number of [[path]] headers so far
}

func (w *walker) document() {
	prefix := ""
	for len(w.tokens) > 0 {
		switch head := w.next(); {
		case head.blank():
		case head.text == "[":
			array := w.skip("[")
			prefix = w.header(w.key("]"), array, head.line)
			w.skip("]")
		default:
			w.pair(prefix, head)
		}
	}
}

// header notes a table and returns its path, in which an array of tables stands for its
// last element.
func (w *walker) header(name string, array bool, line int) string {
	path := ""
	parts := strings.Split(name, ".")
	for i, part := range parts {
		path = join(path, part)
		if array && i == len(parts)-1 {
			w.tables[path]++
			if w.tables[path] == 1 {
				w.line[path] = line
			}
		}
		if n := w.tables[path]; n > 0 {
			path = fmt.Sprintf("%s[%d]", path, n-1)
		}
	}
	w.line[path] = line
	return path
}

// pair notes a key, whose first token has been taken, and walks its value.
func (w *walker) pair(prefix string, head token) {
	path := join(prefix, unquote(head.text)+w.key("="))
	w.line[path] = head.line
	w.value(path)
}

func (w *walker) value(path string) {
	// No valid path is that long, but a file of nothing but brackets would otherwise make
	// paths as long as the file.
	path = path[:min(len(path), 200)]
	switch {
	case w.skip("["):
		for i := 0; w.more("]"); i++ {
			element := fmt.Sprintf("%s[%d]", path, i)
			w.line[element] = w.tokens[0].line
			w.value(element)
		}
	case w.skip("{"):
		for w.more("}") {
			w.pair(path, w.next())
		}
	default:
		w.scalar()
	}
}

// scalar takes at least one token, so that the walker always terminates.
func (w *walker) scalar() {
	for first := true; len(w.tokens) > 0; first = false {
		if !first && strings.Contains(",]}\n#", w.tokens[0].text[:1]) {
			return
		}
		w.next()
	}
}

// more moves to the next element of an array or inline table; false means that it has been
// closed.
func (w *walker) more(end string) bool {
	for len(w.tokens) > 0 && (w.tokens[0].blank() || w.tokens[0].text == ",") {
		w.next()
	}
	return len(w.tokens) > 0 && !w.skip(end)
}

// key joins the rest of a key and takes the token that ends it.
func (w *walker) key(end string) string {
	var b strings.Builder
	for len(w.tokens) > 0 {
		t := w.next()
		if t.text == end {
			break
		}
		b.WriteString(unquote(t.text))
	}
	return b.String()
}

func (w *walker) next() token {
	t := w.tokens[0]
	w.tokens = w.tokens[1:]
	return t
}

func (w *walker) skip(text string) bool {
	if len(w.tokens) == 0 || w.tokens[0].text != text {
		return false
	}
	w.next()
	return true
}

func (t token) blank() bool { return t.text == "\n" || t.text[0] == '#' }

func unquote(key string) string { return strings.Trim(key, `"'`) }

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

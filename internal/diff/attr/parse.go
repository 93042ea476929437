package attr

import (
	"strconv"
	"strings"

	"codeloops/internal/repo/pattern"
)

const (
	fileName    = ".gitattributes"
	macroPrefix = "[attr]"
	blank       = " \t\r\n"
	maxLine     = 2048 // bytes; git ignores lines of this length or more
)

// definitions are the content of one file.
type definitions struct {
	rules  []rule                  // the last match counts
	macros map[string][]assignment // by name
}

// A rule gives attributes to the paths that match.
type rule struct {
	pattern pattern.Pattern
	assign  []assignment
}

// An assignment is one attribute on a line. It can make the attribute Unspecified, which overrides
// rules of lower priority.
type assignment struct {
	name  string
	value Value
}

// parse parses a file of definitions, by the section "DESCRIPTION" of gitattributes(5). It skips
// malformed lines, and macros where they are not allowed.
func parse(text string, macros bool) *definitions {
	d := &definitions{macros: make(map[string][]assignment)}
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "\x00")
		if len(line) < maxLine {
			d.add(strings.TrimLeft(line, blank), macros)
		}
	}
	return d
}

func (d *definitions) add(line string, macros bool) {
	if line == "" || line[0] == '#' {
		return
	}
	name, rest, ok := unquote(line)
	if !ok {
		name, rest = word(line)
	}
	assign, ok := assignments(rest)
	if !ok {
		return
	}
	if macro, ok := strings.CutPrefix(name, macroPrefix); ok && macro != "" {
		macro, _ = word(strings.TrimLeft(macro, blank))
		if macros && validName(macro) {
			d.macros[macro] = assign
		}
		return
	}
	if p := pattern.Parse(name); !p.Negated {
		d.rules = append(d.rules, rule{pattern: p, assign: assign})
	}
}

// word splits s after its first word.
func word(s string) (word, rest string) {
	if i := strings.IndexAny(s, blank); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// assignments parses the attributes on a line. It reports false if one is malformed.
func assignments(s string) ([]assignment, bool) {
	var all []assignment
	for text := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(blank, r) }) {
		a, ok := assignmentOf(text)
		if !ok {
			return nil, false
		}
		all = append(all, a)
	}
	return all, true
}

// assignmentOf parses "name", "-name", "!name" or "name=value".
func assignmentOf(text string) (assignment, bool) {
	name, value, valued := strings.Cut(text, "=")
	a := assignment{name: name, value: Value{State: Set}}
	switch {
	case strings.HasPrefix(name, "-"):
		a = assignment{name[1:], Value{State: Unset}}
	case strings.HasPrefix(name, "!"):
		a = assignment{name[1:], Value{}}
	case valued:
		a.value = Value{State: Valued, Text: value}
	}
	return a, validName(a.name)
}

// validName reports whether git accepts name as that of an attribute.
func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter, digit := 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9'
		if !letter && !digit && !strings.ContainsRune("-._", rune(c)) {
			return false
		}
	}
	return name != "" && name[0] != '-'
}

// unquote parses a name in double quotes with C escapes at the start of s, and returns the rest.
func unquote(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i+1 < len(s) && strings.IndexByte("xuU", s[i+1]) >= 0 {
				return "", "", false // C does not have these escapes
			}
			c, _, tail, err := strconv.UnquoteChar(s[i:], '"')
			if err != nil {
				return "", "", false
			}
			b.WriteByte(byte(c))
			i = len(s) - len(tail)
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return "", "", false
}

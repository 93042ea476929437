package repo

import (
	"fmt"
	"strings"
)

// A SyntaxError is a malformed configuration file, which git would reject.
type SyntaxError struct {
	File string
	Line int
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("bad git configuration in %s, line %d", e.File, e.Line)
}

// A parser parses one configuration file, by the section "Syntax" of git-config(1).
type parser struct {
	text   string
	pos    int
	line   int    // from 1
	prefix string // of the names in the current section, with its dot
}

// end is the end of the file, which also ends a line.
const end = -1

// Parse parses the text of one configuration file, without its includes.
func Parse(text string) (*Config, error) {
	entries, err := parse("", text)
	return &Config{entries: entries}, err
}

// parse returns the settings of a file in order. The error is a [*SyntaxError].
func parse(file, text string) ([]Entry, error) {
	p := &parser{text: strings.TrimPrefix(text, "\ufeff"), line: 1}
	entries := make([]Entry, 0, 16) // what most files have, at most
	for ok := true; ok; {
		switch c := p.next(); {
		case c == end:
			return entries, nil
		case isSpace(c):
		case c == '#' || c == ';':
			p.skipLine()
		case c == '[':
			ok = p.section()
		default:
			e := Entry{Origin: file}
			ok = p.setting(c, &e)
			entries = append(entries, e)
		}
	}
	return nil, &SyntaxError{File: file, Line: p.line}
}

// next returns the next character, LF for CR LF.
func (p *parser) next() int {
	if p.pos == len(p.text) {
		return end
	}
	c := p.text[p.pos]
	if c == '\r' && strings.HasPrefix(p.text[p.pos+1:], "\n") {
		p.pos++
		c = '\n'
	}
	p.pos++
	if c == '\n' {
		p.line++
	}
	return int(c)
}

// last returns the last character that next returned, which must not be the end.
func (p *parser) last() byte { return p.text[p.pos-1] }

// skipLine skips the rest of the line.
func (p *parser) skipLine() {
	for c := p.next(); c != '\n' && c != end; c = p.next() {
	}
}

// section parses a header after its "[".
func (p *parser) section() bool {
	var name strings.Builder
	for {
		c := p.next()
		switch {
		case c == ']':
			p.prefix = strings.ToLower(name.String()) + "."
			return name.Len() > 0
		case c == ' ' || c == '\t':
			return p.subsection(strings.ToLower(name.String()))
		case !isKey(c) && c != '.':
			return false
		}
		name.WriteByte(p.last())
	}
}

// subsection parses the quoted part of a header after the first blank.
func (p *parser) subsection(name string) bool {
	c := p.next()
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	if c != '"' {
		return false
	}
	var sub strings.Builder
	for {
		switch c = p.next(); c {
		case '"':
			p.prefix = name + "." + sub.String() + "."
			return p.next() == ']'
		case '\\':
			c = p.next()
		}
		if c == '\n' || c == end {
			return false
		}
		sub.WriteByte(p.last())
	}
}

// setting parses "name" or "name = value", given its first character.
func (p *parser) setting(first int, e *Entry) (ok bool) {
	if !isAlpha(first) {
		return false
	}
	var name strings.Builder
	c := first
	for ; isKey(c); c = p.next() {
		name.WriteByte(p.last())
	}
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	e.Key = p.prefix + strings.ToLower(name.String())
	switch c {
	case '\n', end:
		e.Implicit = true
		return true
	case '=':
		e.Value, ok = p.value()
	}
	return ok
}

// value parses what follows "=", up to the end of the line.
func (p *parser) value() (string, bool) {
	var value strings.Builder
	blanks := 0 // bytes of blanks that may turn out to end the value
	quoted := false
	for {
		from := p.pos
		c := p.next()
		switch {
		case c == '\n' || c == end:
			return value.String(), !quoted
		case isSpace(c) && !quoted:
			if value.Len() > 0 {
				blanks += p.pos - from
			}
			continue
		case (c == '#' || c == ';') && !quoted:
			p.skipLine()
			return value.String(), true
		}
		value.WriteString(p.text[from-blanks : from])
		blanks = 0
		switch c {
		case '"':
			quoted = !quoted
		case '\\':
			if !p.escape(&value) {
				return "", false
			}
		default:
			value.WriteByte(p.last())
		}
	}
}

// escape parses what follows a backslash in a value.
func (p *parser) escape(value *strings.Builder) bool {
	const letters, stand = `tbn\"`, "\t\b\n\\\""
	if c := p.next(); c == '\n' || c == end {
		return true // the value goes on in the next line
	}
	at := strings.IndexByte(letters, p.last())
	if at >= 0 {
		value.WriteByte(stand[at])
	}
	return at >= 0
}

func isSpace(c int) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isAlpha(c int) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isKey(c int) bool { return isAlpha(c) || '0' <= c && c <= '9' || c == '-' }

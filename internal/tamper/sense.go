package tamper

import (
	"regexp"
	"strings"
)

// A sense is what a line says in its language.
type sense struct {
	marks    bool   // a test is declared below
	declares string // the name of what is declared
	skips    string // the marker that keeps tests from being run
	sweeps   string // what decides over all tests around it
	silences string // the marker that keeps a tool quiet
	asserts  bool
	exact    bool // compares with one value
	loose    bool // is content with many values
	idle     bool // asserts what is always so
}

// senseOf reads a line; most of it only in a file with tests.
func (l *language) senseOf(x line, test bool) (s sense) {
	s.silences = l.silencer(x)
	if !test || l.declare == nil {
		return s
	}
	if strings.TrimSpace(x.code) == "" {
		s.skips = l.skipper(x)
		return s
	}
	s.marks, s.declares, s.skips = match(l.mark, x.code), l.declared(x), l.skipper(x)
	if m := l.sweep; m != nil {
		s.sweeps = m.FindString(x.bare)
	}
	s.asserts, s.exact = match(l.assert, x.bare), match(l.exact, x.bare) && !match(l.inexact, x.bare)
	s.loose = !s.exact && match(l.loose, x.bare)
	s.idle = s.asserts && match(l.idle, x.bare)
	return s
}

func match(r *regexp.Regexp, s string) bool { return r != nil && r.MatchString(s) }

// declared returns the name of the test that a line declares, "" for none.
func (l *language) declared(x line) string {
	m := l.declare.FindStringSubmatch(x.code)
	if m == nil || match(l.call, x.code) {
		return ""
	}
	return strings.Join(m[1:], "") // one group at the most is not empty
}

// skipper returns one of the few words that the language's expressions know.
func (l *language) skipper(x line) string {
	if l.skip != nil {
		if m := l.skip.FindString(x.bare); m != "" {
			return quoted(m)
		}
	}
	if x.comment != "" && match(l.exclude, strings.TrimSpace(x.comment)) {
		return "a build constraint"
	}
	return ""
}

// silencer likewise.
func (l *language) silencer(x line) string {
	if l.silence != nil && x.comment != "" {
		if m := l.silence.FindString(x.comment); m != "" {
			return quoted(m)
		}
	}
	if l.allow != nil && strings.ContainsAny(x.bare, "#@[") {
		if m := l.allow.FindString(x.bare); m != "" {
			return quoted(m)
		}
	}
	return ""
}

func quoted(marker string) string {
	return "`" + strings.TrimSpace(strings.TrimRight(marker, "(")) + "`"
}

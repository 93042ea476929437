package tamper

import "strings"

// A sense is what a line says in its language.
type sense struct {
	marks    bool   // a test is declared below
	tests    bool   // nothing but tests stands below
	declares string // the name of what is declared
	begins   bool   // a function, a test or not
	skips    string // the marker that keeps tests from being run
	sweeps   string // what decides over all tests around it
	silences string // the marker that keeps a tool quiet
	leaves   string // the word that ends a function
	catches  string // the word that catches a failed assertion
	asserts  bool
	exact    bool // compares with one value
	loose    bool // is content with many values
	idle     bool // asserts what is always so
	says     bool // only tells something to a person
}

// senseOf reads a line; most of it only in a file with tests, and of a line that is
// far from what has changed only what it declares.
func (l *language) senseOf(x line, test bool) (s sense) {
	if !x.far {
		s.silences = l.silencer(x)
	}
	if !test || l.declare == nil {
		return s
	}
	if strings.TrimSpace(x.code) == "" {
		if !x.far {
			s.skips = l.skipper(x)
		}
		return s
	}
	s.marks, s.declares, s.tests = l.mark.match(x.code), l.declared(x), l.only.match(x.code)
	s.begins = s.declares != "" || l.begin.match(x.bare) && !l.call.match(x.bare)
	if !x.far || x.swallowed > 0 {
		s.skips, s.sweeps = l.skipper(x), l.sweep.find(x.bare)
		s.leaves, s.catches = strings.TrimSpace(l.leave.find(x.bare)), strings.TrimSpace(l.catch.find(x.bare))
		s.says = l.speak.match(x.bare)
		l.weigh(&s, x)
	}
	return s
}

// weigh reads what a line asserts.
func (l *language) weigh(s *sense, x line) {
	s.asserts, s.exact = l.assert.match(x.bare), l.exact.match(x.bare) && !l.inexact.match(x.bare)
	s.loose = !s.exact && l.loose.match(x.bare)
	s.idle = x.op == '+' && (s.asserts || s.exact || s.loose) && (l.idle.match(x.bare) || alwaysSo(x.parts))
}

// declared returns the name of the test that a line declares, "" for none.
func (l *language) declared(x line) string {
	m := l.declare.groups(x.code)
	if m == nil || l.call.match(x.code) {
		return ""
	}
	return strings.Join(m[1:], "") // most of the groups are empty
}

// skipper returns one of the few words that the language's expressions know.
func (l *language) skipper(x line) string {
	if m := l.skip.find(x.bare); m != "" {
		return quoted(m)
	}
	if x.comment != "" && l.exclude.match(strings.TrimSpace(x.comment)) {
		return "a build constraint"
	}
	return ""
}

// silencer likewise.
func (l *language) silencer(x line) string {
	if m := l.silence.find(x.comment); m != "" {
		return quoted(m)
	}
	if m := l.allow.find(x.bare); m != "" {
		return quoted(m)
	}
	return ""
}

// quoted returns a marker as our own sentences may hold it: an expression may have
// taken in more than its words.
func quoted(marker string) string {
	const most = 40
	marker = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '`' {
			return '?'
		}
		return r
	}, strings.TrimSpace(strings.TrimRight(marker, "(")))
	if len(marker) > most {
		marker = marker[:most] + "…"
	}
	return "`" + marker + "`"
}

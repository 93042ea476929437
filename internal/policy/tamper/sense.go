package tamper

import "strings"

// A sense is the meaning of a line in its language.
type sense struct {
	marks    bool   // a test is declared below
	tests    bool   // everything below is tests
	declares string // the name of the declared test
	begins   bool   // a function starts here, a test or not
	skips    string // the marker that keeps tests from being run
	sweeps   string // what affects all tests around it
	silences string // the marker that silences a tool
	leaves   string // the word that leaves a function
	catches  string // the word that catches a failed assertion
	says     bool   // it is only a message to a person
	claim
}

// A claim is what a line asserts.
type claim struct {
	asserts bool
	exact   bool // compares with one value
	loose   bool // accepts many values
	idle    bool // is always true
}

// senseOf reads a line. Most of it matters only in a file with tests, and for a line far
// from any change only what it declares.
func (l *language) senseOf(x *line, test bool) (s sense) {
	if !x.far {
		s.silences = l.silencer(x)
	}
	if !test || l.Declare == nil {
		return s
	}
	if strings.TrimSpace(x.code) == "" {
		if !x.far {
			s.skips = l.skipper(x)
		}
		return s
	}
	s.marks, s.declares, s.tests = l.Mark.match(x.code), l.declared(x), l.Only.match(x.code)
	s.begins = s.declares != "" || l.Begin.match(x.bare) && !l.Call.match(x.bare)
	if !x.far || x.swallowed > 0 {
		s.skips, s.sweeps = l.skipper(x), l.Sweep.find(x.bare)
		s.leaves, s.catches = strings.TrimSpace(l.Leave.find(x.bare)), strings.TrimSpace(l.Catch.find(x.bare))
		s.says = l.Speak.match(x.bare)
		s.claim = l.claimOf(x)
	}
	return s
}

// claimOf reads what a line asserts.
func (l *language) claimOf(x *line) (c claim) {
	c.asserts, c.exact = l.Assert.match(x.bare), l.Exact.match(x.bare) && !l.Inexact.match(x.bare)
	c.loose = !c.exact && l.Loose.match(x.bare)
	c.idle = x.op == '+' && (c.asserts || c.exact || c.loose) && (l.Idle.match(x.bare) || comparesWithItself(x.parts))
	return c
}

// declared returns the name of the test that a line declares, "" for none.
func (l *language) declared(x *line) string {
	m := l.Declare.groups(x.code)
	if m == nil || l.Call.match(x.code) {
		return ""
	}
	return strings.Join(m[1:], "") // most of the groups are empty
}

// skipper returns the marker in a line that keeps tests from being run, "" for none.
func (l *language) skipper(x *line) string {
	if m := l.Skip.find(x.bare); m != "" {
		return quoted(m)
	}
	if x.comment != "" && l.Exclude.match(strings.TrimSpace(x.comment)) {
		return "a build constraint"
	}
	return ""
}

// silencer returns the marker in a line that silences a tool, "" for none.
func (l *language) silencer(x *line) string {
	if m := l.Silence.find(x.comment); m != "" {
		return quoted(m)
	}
	if m := l.Allow.find(x.bare); m != "" {
		return quoted(m)
	}
	return ""
}

// quoted returns a marker that is safe in our own sentences: an expression may have
// matched more than the marker's words.
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

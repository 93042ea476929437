package pattern

import "strings"

// matchSet matches c against the set at the start of pat, as in "[!a-z]", and returns the length of
// the set. An unclosed set, or one with an unknown class, matches nothing.
func matchSet(pat string, c byte, fold bool) (n int, ok bool) {
	i, negated := 1, false
	if i < len(pat) && (pat[i] == '!' || pat[i] == '^') {
		i, negated = i+1, true
	}
	s := set{pat: pat, c: c, fold: fold}
	for first := true; ; first = false {
		if i >= len(pat) {
			return 0, false
		}
		if pat[i] == ']' && !first {
			return i + 1, s.matched != negated
		}
		if i = s.member(i); i < 0 {
			return 0, false
		}
	}
}

// A set is the state of one matchSet call.
type set struct {
	pat     string
	c       byte
	fold    bool
	prev    byte // the previous member, if it can begin a range; else 0
	matched bool
}

// member matches the member of the set at i and returns where the next one begins, or -1 if the set
// is malformed.
func (s *set) member(i int) int {
	rest := s.pat[i:]
	switch {
	case rest[0] == '\\':
		if len(rest) < 2 {
			return -1
		}
		s.one(rest[1])
		return i + 2
	case rest[0] == '-' && s.prev != 0 && len(rest) > 1 && rest[1] != ']':
		return s.closeRange(i + 1)
	case strings.HasPrefix(rest, "[:"):
		return s.class(i)
	default:
		s.one(rest[0])
		return i + 1
	}
}

func (s *set) one(c byte) {
	s.matched = s.matched || s.c == c
	s.prev = c
}

// closeRange matches a range, given the position of its upper end.
func (s *set) closeRange(i int) int {
	if s.pat[i] == '\\' {
		if i++; i == len(s.pat) {
			return -1
		}
	}
	low, high := s.prev, s.pat[i]
	s.prev = 0
	s.matched = s.matched || low <= s.c && s.c <= high
	// With fold, c is lower case already; the range may be upper case.
	if up := upper(s.c); s.fold && up != s.c {
		s.matched = s.matched || low <= up && up <= high
	}
	return i + 1
}

// class matches a class such as "[:alpha:]" at i. If it is not closed like one, "[" is a plain
// character.
func (s *set) class(i int) int {
	from := i + 2
	n := strings.IndexByte(s.pat[from:], ']')
	if n < 0 {
		return -1
	}
	if n == 0 || s.pat[from+n-1] != ':' {
		s.one('[')
		return i + 1
	}
	name := s.pat[from : from+n-1]
	if s.fold && name == "upper" {
		name = "alpha"
	}
	ranges, known := classes()[name]
	if !known {
		return -1
	}
	for r := ranges; r != ""; r = r[2:] {
		s.matched = s.matched || r[0] <= s.c && s.c <= r[1]
	}
	s.prev = 0
	return from + n + 1
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// classes are the named classes of ASCII characters, each as a list of ranges with two bounds. As in
// git, spaces do not include vertical tab and form feed.
func classes() map[string]string {
	return map[string]string{
		"alnum": "09AZaz", "alpha": "AZaz", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~",
		"lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\n\r\r  ", "upper": "AZ", "xdigit": "09AFaf",
	}
}

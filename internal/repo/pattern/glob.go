package pattern

import "strings"

// A retry is where matching continues after a mismatch: the pattern after a star, and the text that
// the star has not matched yet.
type retry struct {
	pat, txt int
	set      bool
}

// A matcher holds the state of one Glob call.
type matcher struct {
	pat, txt   string
	fold, path bool
	p, t       int
	star       retry // the last "*" that stops at slashes
	deep       retry // the last star that crosses slashes
}

// Glob reports whether the whole text matches a shell pattern of git. With fold, ASCII letters
// match in either case. With path, only "**" between slashes matches a slash, but not "*", "?" or
// a set.
//
// It matches from left to right and only goes back to the last star of each kind. An earlier "*"
// need not be tried again: between slashes the shortest match is as good as any, and one followed
// by a slash has no choice. The time is at most proportional to the length of the pattern times
// the square of that of the text.
func Glob(pat, txt string, fold, path bool) bool {
	m := matcher{pat: pat, txt: txt, fold: fold, path: path}
	for m.p < len(m.pat) || m.t < len(m.txt) {
		if m.p < len(m.pat) && m.step() {
			continue
		}
		if m.t == len(m.txt) || !m.comeBack() { // at the end, going back would leave even less text
			return false
		}
	}
	return true
}

// step matches the next element of the pattern and moves past it.
func (m *matcher) step() bool {
	if m.pat[m.p] == '*' {
		m.open()
		return true
	}
	if m.t == len(m.txt) {
		return false
	}
	width, ok := m.one(m.pat[m.p:], m.txt[m.t])
	if ok {
		m.p += width
		m.t++
	}
	return ok
}

// one reports whether the first element of pat matches c, and how long the element is.
func (m *matcher) one(pat string, c byte) (width int, ok bool) {
	if m.fold {
		c = lower(c)
	}
	blocked := m.path && c == '/'
	switch first := pat[0]; first {
	case '?':
		return 1, !blocked
	case '[':
		width, ok = matchSet(pat, c, m.fold)
		return width, ok && !blocked
	case '\\':
		// An escaped letter is not folded.
		return 2, len(pat) > 1 && pat[1] == c
	default:
		if m.fold {
			first = lower(first)
		}
		return 1, first == c
	}
}

// open skips one or more stars and records where to come back to.
func (m *matcher) open() {
	first := m.p
	for m.p < len(m.pat) && m.pat[m.p] == '*' {
		m.p++
	}
	here := retry{pat: m.p, txt: m.t, set: true}
	switch {
	case !m.path:
		m.deep, m.star = here, retry{}
	case m.p-first >= 2 && m.bounded(first):
		m.deep, m.star = here, retry{}
		if strings.HasPrefix(m.pat[m.p:], "/") {
			// "**/" can match nothing. After that, its slash is searched for from here.
			m.p++
			m.deep.txt--
		}
	default:
		m.star = here
	}
}

// bounded reports whether the stars from first on have a slash, or an end of the pattern, on both
// sides.
func (m *matcher) bounded(first int) bool {
	rest := m.pat[m.p:]
	return (first == 0 || m.pat[first-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
}

// comeBack lets the last star match one more character.
func (m *matcher) comeBack() bool {
	if s := &m.star; s.set && s.txt < len(m.txt) && m.txt[s.txt] != '/' {
		s.txt++
		m.p, m.t = s.pat, s.txt
		return true
	}
	m.star.set = false
	if d := &m.deep; d.set && d.txt < len(m.txt) {
		d.txt++
		m.p, m.t = d.pat, d.txt
		return true
	}
	return false
}

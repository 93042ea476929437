package redact

import "strings"

// A matcher finds patterns. It has them by their first byte.
type matcher [256][]string

func newMatcher(patterns map[string]bool) *matcher {
	m := &matcher{}
	for p := range patterns {
		m[p[0]] = append(m[p[0]], p)
	}
	return m
}

// at returns the length of the longest pattern that a text begins with, and whether the whole
// text may be the beginning of a longer one.
func (m *matcher) at(text string) (length int, open bool) {
	for _, p := range m[text[0]] {
		switch {
		case len(p) > len(text):
			open = open || strings.HasPrefix(p, text)
		case len(p) > length && strings.HasPrefix(text, p):
			length = len(p)
		}
	}
	return length, open
}

// in reports whether any pattern is in a text.
func (m *matcher) in(text string) bool {
	for i := range len(text) {
		if length, _ := m.at(text[i:]); length > 0 {
			return true
		}
	}
	return false
}

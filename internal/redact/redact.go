// Package redact keeps the values of secret environment variables out of what
// codeloops writes and shows.
//
// A secret is found wherever it stands as it is, escaped for JSON or for a
// URL, or in base64 that is not wrapped; a secret of several lines also line
// by line, so that the signs in front of a diff's lines do not hide it. Other
// encodings, and parts of a secret, are not found.
package redact

import (
	"strings"

	"codeloops/internal/secretname"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// A Redactor knows the secrets of one environment. It is safe for concurrent
// use. One without secrets costs nothing.
type Redactor struct {
	matcher *matcher // nil: there are no secrets
}

// New returns the redactor for an environment of "NAME=value" entries.
func New(environ []string) *Redactor {
	patterns := map[string]bool{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !secretname.Is(name) {
			continue
		}
		value = strings.TrimSpace(value)
		if secretValue(name, value) {
			addForms(patterns, value)
		}
	}
	if len(patterns) == 0 {
		return &Redactor{}
	}
	return &Redactor{matcher: newMatcher(patterns)}
}

// String returns s with [Mark] in place of every secret, in linear time.
// Secrets that overlap or touch share one mark.
func (r *Redactor) String(s string) string {
	if r.matcher == nil {
		return s
	}
	f := finder{matcher: r.matcher}
	find(&f, s)
	if len(f.spans) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	at := int64(0)
	for _, sp := range f.spans {
		b.WriteString(s[at:sp.start])
		b.WriteString(Mark)
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// texts returns a new list with every text redacted.
func (r *Redactor) texts(list []string) []string {
	return each(list, func(s *string) { *s = r.String(*s) })
}

// each returns a copy of list with fn applied to its elements.
func each[T any](list []T, fn func(*T)) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	copy(out, list)
	for i := range out {
		fn(&out[i])
	}
	return out
}

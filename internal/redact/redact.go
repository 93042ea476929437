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

	"codeloops/internal/redact/secretname"
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
	if find(&f, s); len(f.spans) == 0 {
		return s
	}
	text := r.stream()
	return string(append(text.next([]byte(s)), text.rest()...))
}

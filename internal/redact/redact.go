// Package redact keeps the values of secret environment variables out of what codeloops writes
// and shows.
//
// Passwords in URLs are secrets, too, whatever the name of the variable.
//
// A secret is found verbatim, escaped for JSON or a URL, and in base64 without line breaks; a
// secret of several lines is also found line by line, so that it is found in diffs. Other
// encodings, and parts of a secret, are not found.
package redact

import (
	"strings"

	"codeloops/internal/redact/secretname"
)

// Mark replaces a secret.
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
		for _, secret := range inURLs(value) {
			addForms(patterns, secret)
		}
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

// String replaces every secret in s with [Mark]. Secrets that overlap or touch share one mark.
func (r *Redactor) String(s string) string {
	if r.matcher == nil || !r.matcher.in(s) {
		return s
	}
	text := stream{matcher: r.matcher}
	return string(append(text.next(s), text.rest()...))
}

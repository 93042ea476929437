package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/redact"
	"codeloops/internal/term"
)

// A usageError is a command line that cannot be followed.
type usageError struct {
	problem string
	hint    string
}

func (e *usageError) Error() string { return e.problem }
func (e *usageError) Hint() string  { return e.hint }

func usagef(hint, format string, args ...any) error {
	return &usageError{problem: fmt.Sprintf(format, args...), hint: hint}
}

// A hinted error knows what its reader could do about it.
type hinted interface {
	error
	Hint() string
}

// A complaint is one error as a person reads it.
type complaint struct {
	Message string
	Hint    string
}

// complaints spells an error out: one for each problem of a configuration, one
// for anything else.
func complaints(err error) []complaint {
	if many, ok := errors.AsType[config.Errors](err); ok {
		all := make([]complaint, 0, len(many))
		for _, e := range many {
			all = append(all, complaint{e.Error(), e.Hint})
		}
		return all
	}
	c := complaint{Message: strings.TrimSpace(err.Error())}
	if one, ok := errors.AsType[*config.Error](err); ok {
		c.Hint = one.Hint
	} else if h, ok := errors.AsType[hinted](err); ok {
		c.Hint = h.Hint()
	} else {
		c.Hint = hintFor(err)
	}
	return []complaint{c}
}

// report writes an error as problem, then hint, on lines of their own. What
// an error quotes may come from a repository, an agent or the environment.
func report(w io.Writer, err error, secrets *redact.Redactor) {
	for _, c := range complaints(err) {
		fmt.Fprintf(w, "codeloops: %s\n", term.Clean(secrets.String(c.Message))) //nolint:errcheck // there is nowhere left to say it
		if c.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", term.Clean(secrets.String(c.Hint))) //nolint:errcheck // as above
		}
	}
}

// writeJSON writes one object on lines of its own.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

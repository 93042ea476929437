package main

import (
	"encoding/json"
	"fmt"
	"io"

	"codeloops/internal/cli/problem"
	"codeloops/internal/redact"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

// usagef is a command line that cannot be followed, with what to do about it.
func usagef(what, format string, args ...any) error { return hint.Errorf(what, format, args...) }

// report writes an error as problem, then hint, on lines of their own. What
// an error quotes may come from a repository, an agent or the environment.
func report(w io.Writer, err error, secrets *redact.Redactor) {
	for _, c := range problem.Of(err) {
		fmt.Fprintf(w, "codeloops: %s\n", term.Clean(secrets.String(c.Message))) //nolint:errcheck // there is nowhere left to say it
		if c.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", term.Clean(secrets.String(c.Hint))) //nolint:errcheck // as above
		}
	}
}

// show writes something as JSON, or as the text that it is for a person.
func show(a *app, asJSON bool, v any, text string) error {
	if asJSON {
		return writeJSON(a.Out, v)
	}
	_, err := io.WriteString(a.Out, a.Secrets.String(text))
	return err
}

// writeJSON writes one object on lines of its own.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

package sessionview

import (
	"encoding/json"
	"io"

	"codeloops/internal/session"
)

// writeJSON writes one value on lines of its own.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// JSONList writes sessions as one list.
func JSONList(w io.Writer, picked []session.Overview) error {
	rows := make([]Row, len(picked))
	for i, one := range picked {
		rows[i] = NewRow(one)
	}
	return writeJSON(w, rows)
}

// JSONLines writes a line for each session.
func JSONLines(w io.Writer, picked []session.Overview) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, one := range picked {
		if err := enc.Encode(NewRow(one)); err != nil {
			return err
		}
	}
	return nil
}

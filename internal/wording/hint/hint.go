// Package hint holds errors that say what their reader can do about them.
package hint

import (
	"errors"
	"fmt"
)

// A hinted error is a problem, and what can be done about it.
type hinted struct {
	error

	hint string
}

// Hint returns what can be done about it.
func (e *hinted) Hint() string  { return e.hint }
func (e *hinted) Unwrap() error { return e.error }

// Errorf formats a problem as [fmt.Errorf] does, with a hint beside it.
func Errorf(hint, format string, args ...any) error {
	return &hinted{fmt.Errorf(format, args...), hint}
}

// Add adds a hint to an error.
func Add(err error, hint string) error { return &hinted{err, hint} }

// Of returns the hint of an error, that of the outermost one that can have one; ok is
// false when there is none that can.
func Of(err error) (text string, ok bool) {
	type hinter interface {
		error
		Hint() string
	}
	h, ok := errors.AsType[hinter](err)
	if !ok {
		return "", false
	}
	return h.Hint(), true
}

// Sentence is an error and its hint, for where there is one line for both.
func Sentence(err error) string {
	if advice, ok := Of(err); ok {
		return err.Error() + " (" + advice + ")"
	}
	return err.Error()
}

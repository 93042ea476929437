// Package hint holds errors that come with advice.
package hint

import (
	"errors"
	"fmt"
)

// hinted is an error with advice.
type hinted struct {
	error

	hint string
}

// Hint returns the advice.
func (e *hinted) Hint() string  { return e.hint }
func (e *hinted) Unwrap() error { return e.error }

// Errorf formats an error like [fmt.Errorf], and adds a hint.
func Errorf(hint, format string, args ...any) error {
	return &hinted{fmt.Errorf(format, args...), hint}
}

// Add adds a hint to an error.
func Add(err error, hint string) error { return &hinted{err, hint} }

// Of returns the hint of the outermost error in the chain with a Hint method; ok is false if
// there is none.
func Of(err error) (text string, ok bool) {
	type hinter interface {
		error
		Hint() string
	}
	if h, ok := errors.AsType[hinter](err); ok {
		return h.Hint(), true
	}
	return "", false
}

// Sentence returns an error and its hint on one line.
func Sentence(err error) string {
	if advice, ok := Of(err); ok {
		return err.Error() + " (" + advice + ")"
	}
	return err.Error()
}

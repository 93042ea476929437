package config

import (
	"errors"
	"strings"
	"unicode"
)

// Errors that callers branch on.
var (
	// ErrUntrusted is the cause for a project file with keys that need trust.
	ErrUntrusted = errors.New("not trusted")
	// ErrNoHome is the cause for a directory that is unknown because neither the home
	// directory nor the variable for it is set.
	ErrNoHome = errors.New("no home directory")
)

// An Error is one thing wrong with the configuration.
type Error struct {
	File    string // "" for flags and variables
	Line    int    // from 1; 0: the file as a whole
	Key     string // with dots for tables; "" when no key is to blame
	Problem string // a clause that names the key as the user wrote it
	Hint    string // what to do about it; "" when there is nothing to say

	err error
}

// Error returns one line without the hint. Control characters, which may come from a file,
// are replaced.
func (e *Error) Error() string {
	if e.File == "" {
		return printable(e.Problem)
	}
	return printable(Origin{File: e.File, Line: e.Line}.String() + ": " + e.Problem)
}

// Unwrap returns the cause: a sentinel of this package, a file system error, or nil.
func (e *Error) Unwrap() error { return e.err }

// Errors are several problems, each an [*Error], ordered by layer and, within a file, by line.
type Errors []error

// Error returns a line for each problem.
func (e Errors) Error() string { return errors.Join(e...).Error() }

// Unwrap returns the problems one by one.
func (e Errors) Unwrap() []error { return e }

// orNil returns the problems as an error: nil for none, the [*Error] itself for one.
func (e Errors) orNil() error {
	switch len(e) {
	case 0:
		return nil
	case 1:
		return e[0]
	}
	return e
}

func noHome(purpose, variable string) *Error {
	return &Error{
		Problem: "cannot " + purpose + ": the home directory is unknown",
		Hint:    "set HOME or " + variable,
		err:     ErrNoHome,
	}
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

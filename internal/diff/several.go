package diff

import (
	"fmt"
	"slices"
	"strings"
)

// A severalError is what went wrong with several files, in one sentence.
type severalError []error

// several returns the errors that are not nil as one, nil when there is none.
func several(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return severalError(errs)
}

// Error says the first ones, and how many more there are.
func (e severalError) Error() string {
	const most = 3
	var texts []string
	for _, err := range e[:min(most, len(e))] {
		texts = append(texts, err.Error())
	}
	switch more := len(e) - most; {
	case more == 1:
		texts = append(texts, "and 1 more error")
	case more > 1:
		texts = append(texts, fmt.Sprintf("and %d more errors", more))
	}
	return strings.Join(texts, "; ")
}

func (e severalError) Unwrap() []error { return e }

// few returns the first of some warnings, with how many more there are: whoever works
// in the repository can make any number of files that cannot be read.
func few(warnings []string) []string {
	const most = 20
	more := len(warnings) - most
	if more <= 1 {
		return warnings
	}
	return append(slices.Clip(warnings[:most]), fmt.Sprintf("and %d more like these", more))
}

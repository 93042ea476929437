package verdict

import (
	"strconv"
	"strings"
)

// fraction reads a number from 0 to 1: 0.95, 0,95, 95% or 95 %, maybe with
// words behind it. Anything else, and what else holds digits ("9/10",
// "0.8 - 0.9"), is nil: a number that might be meant otherwise is no number.
func fraction(text string) *float64 {
	text, _, _ = strings.Cut(strings.TrimFunc(text, blank), "\n")
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_`\"'", r) || invisible(r) {
			return -1
		}
		return r
	}, text)
	digits := span(strings.TrimFunc(text, blank), "0123456789.,")
	rest := strings.TrimLeftFunc(strings.TrimLeftFunc(text, blank)[len(digits):], blank)
	digits = strings.Replace(strings.TrimRight(digits, ".,"), ",", ".", 1)
	rest, percent := strings.CutPrefix(rest, "%")
	if strings.ContainsAny(rest, "0123456789%/") {
		return nil
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return nil
	}
	if percent {
		n /= 100
	}
	if n < 0 || n > 1 {
		return nil
	}
	return &n
}

// span returns the part of s before the first character that is not in set.
func span(s, set string) string {
	return s[:len(s)-len(strings.TrimLeft(s, set))]
}

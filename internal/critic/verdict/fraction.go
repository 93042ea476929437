package verdict

import (
	"strconv"
	"strings"
)

// fraction reads a number from 0 to 1, such as 0.95, 0,95, 95% or 95 %, perhaps followed by
// words. It returns nil for anything ambiguous, such as "9/10" or "0.8 - 0.9".
func fraction(text string) *float64 {
	text, _, _ = strings.Cut(strings.TrimFunc(text, blank), "\n")
	text = strings.TrimFunc(strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_`\"'", r) || invisible(r) {
			return -1
		}
		return r
	}, text), blank)
	rest := strings.TrimLeft(text, "0123456789.,")
	digits := strings.Replace(strings.TrimRight(text[:len(text)-len(rest)], ".,"), ",", ".", 1)
	rest = strings.TrimLeftFunc(rest, blank)
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

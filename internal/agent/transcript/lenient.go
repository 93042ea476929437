package transcript

import (
	"strconv"
	"strings"
)

// A truth reads the forms in which CLIs say yes: anything but false, null, zero, and the
// same as texts. What is meant for a yes and not understood is one.
type truth bool

// UnmarshalJSON never fails.
func (t *truth) UnmarshalJSON(raw []byte) error {
	*t = truth(isTrue(raw))
	return nil
}

func isTrue(raw []byte) bool {
	word := strings.ToLower(unquoted(raw))
	n, err := strconv.ParseFloat(word, 64)
	return word != "" && word != "false" && word != "null" && (err != nil || n != 0)
}

// A number reads a whole number, also one that is written as a text; anything else reads as 0.
type number int

// UnmarshalJSON never fails.
func (n *number) UnmarshalJSON(raw []byte) error {
	i, err := strconv.Atoi(unquoted(raw))
	if *n = number(i); err != nil {
		*n = 0
	}
	return nil
}

func unquoted(raw []byte) string { return strings.TrimSpace(strings.Trim(string(raw), `"`)) }

package verdict

import (
	"encoding/base32"
	"io"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// A Seal is the random word of a prompt, which the decision repeats. The authors of the
// evidence cannot have known it. "" is none.
type Seal string

// sealLetters leave out those letters and digits that are most easily confused.
const (
	sealLetters = "abcdefghijkmnpqrstuvwxyz23456789"
	sealLength  = 6
)

// sealed matches what may be a seal, or was meant as one.
var sealed = wording.Pattern(`^[0-9A-Za-z]{6,24}$`)

// sealOf reads the value of a SEAL label; "" is no seal.
func sealOf(value string) Seal {
	word := trim(value)
	if !sealed().MatchString(word) {
		return ""
	}
	return Seal(strings.ToLower(word))
}

// on says how the seals that a decision repeats seal it.
func (s Seal) on(repeated []Seal) loop.Sealed {
	switch {
	case s == "":
		return ""
	case len(repeated) == 0:
		return loop.SealNone
	case slices.ContainsFunc(repeated, func(r Seal) bool { return r != s }):
		return loop.SealWrong
	}
	return loop.SealRight
}

// within says how an object is sealed that cannot be read: rightly if it holds the seal at all.
func (s Seal) within(src string) loop.Sealed {
	if s != "" && strings.Contains(src, `"`+string(s)) {
		return loop.SealRight
	}
	return ""
}

// DrawSeal draws a seal that is not in the texts.
func DrawSeal(random io.Reader, texts []string) (Seal, error) {
	word, err := prompt.Draw(random, texts, func(random io.Reader) (string, error) {
		raw := make([]byte, sealLength)
		_, err := io.ReadFull(random, raw)
		return base32.NewEncoding(sealLetters).EncodeToString(raw)[:sealLength], err
	})
	return Seal(word), err
}

package verdict

import (
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

// sealLetters leave out letters and digits that are easily confused.
const (
	sealLetters = "abcdefghjkmnpqrstuvwxyz23456789"
	sealLength  = 6
)

// sealed matches what may be a seal, or was meant as one.
var sealed = wording.Pattern(`^[0-9A-Za-z]{6,24}$`)

// sealOf reads the value of a SEAL label; "" is no seal.
func sealOf(value string) Seal {
	word, _ := trim(value)
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
		const fair = 256 - 256%len(sealLetters) // bytes from here on would favour the first letters
		var b strings.Builder
		for raw := make([]byte, 1); b.Len() < sealLength; {
			if _, err := io.ReadFull(random, raw); err != nil {
				return "", err
			}
			if int(raw[0]) < fair {
				b.WriteByte(sealLetters[int(raw[0])%len(sealLetters)])
			}
		}
		return b.String(), nil
	})
	return Seal(word), err
}

// Package shown writes names as they can stand in a sentence.
package shown

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Of a name of more than longest bytes, the ends stay.
const (
	longest = 256
	end     = longest/2 - utf8.UTFMax
)

// Name returns a path, or another name that a person has not chosen to read, on one
// line: quoted as Go does it if there is something odd in it, and without its middle
// if it is long.
func Name(name string) string {
	if len(name) > longest {
		name = name[:whole(name, end)] + "…" + name[whole(name, len(name)-end):]
	}
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// In returns a sentence in which a name stands, as often as it does, with what
// [Name] makes of it.
func In(sentence, name string) string { return strings.ReplaceAll(sentence, name, Name(name)) }

// whole returns where the character begins that is at i, in whatever is no text i
// itself.
func whole(name string, i int) int {
	for back := range utf8.UTFMax {
		if utf8.RuneStart(name[i-back]) {
			return i - back
		}
	}
	return i
}

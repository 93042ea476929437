package wording

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of a name of more than longest bytes, the ends stay.
const (
	longest = 256
	end     = longest/2 - utf8.UTFMax
)

// Path returns a path on one line, quoted where it holds anything but printable
// characters of UTF-8, or a quotation mark or backslash.
func Path(path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` {
		return quoted
	}
	return path
}

// File returns the path of a file as the system spells it, on one line: quoted where it holds
// anything but printable characters of UTF-8.
func File(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return path
	}
	return strconv.Quote(path)
}

// Name is [Path] for a path or another name that others have chosen: a long one loses
// its middle.
func Name(name string) string {
	if len(name) > longest {
		name = name[:whole(name, end)] + "…" + name[whole(name, len(name)-end):]
	}
	return Path(name)
}

// Quote returns what others wrote on one line and in quotation marks, of a long text the
// first most characters.
func Quote(text string, most int) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 8*most)]), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}

// NameIn returns a sentence in which a name stands, as often as it does, with what
// [Name] makes of it.
func NameIn(sentence, name string) string { return strings.ReplaceAll(sentence, name, Name(name)) }

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

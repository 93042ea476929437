package wording

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A name of more than longest bytes is cut to its ends.
const (
	longest = 256
	end     = longest/2 - utf8.UTFMax
)

// Path returns a path on one line, quoted if it holds anything but printable UTF-8 characters,
// or a quotation mark or backslash.
func Path(path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` {
		return quoted
	}
	return path
}

// OSPath is [Path] for paths of the operating system, in which backslashes are common: it quotes
// a path only if it holds anything but printable UTF-8 characters.
func OSPath(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return path
	}
	return strconv.Quote(path)
}

// Name is [Path] for a path or another name that may be very long: then it loses its middle.
func Name(name string) string {
	if len(name) > longest {
		name = name[:whole(name, end)] + "…" + name[whole(name, len(name)-end):]
	}
	return Path(name)
}

// Quote returns the first characters of a text, at most as many as given, on one line and in
// quotation marks.
func Quote(text string, most int) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 8*most)]), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}

// NameIn applies [Name] to every occurrence of a name in a sentence.
func NameIn(sentence, name string) string { return strings.ReplaceAll(sentence, name, Name(name)) }

// whole returns the beginning of the character at i, or i if there is no valid one.
func whole(name string, i int) int {
	for back := range utf8.UTFMax {
		if utf8.RuneStart(name[i-back]) {
			return i - back
		}
	}
	return i
}

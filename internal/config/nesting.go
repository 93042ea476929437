package config

import "bytes"

// maxNesting bounds the dots in a key, and the nesting of inline tables. Valid keys need
// three.
const maxNesting = 8

// tooDeep returns the line, from 1, at which tables are nested deeper than maxNesting, or
// 0. The decoder's time grows with the cube of the nesting: it would take minutes for a
// key of 64 KiB in a stranger's project file.
//
// It parses TOML's strings and comments as far as the text is valid. After the first
// error the decoder stops, too.
func tooDeep(content []byte) int {
	line, dots, braces := 1, 0, 0
	for at := 0; at < len(content); {
		length := 1
		switch c := content[at]; c {
		case '#':
			length = lineLength(content[at:])
		case '"', '\'':
			length = stringLength(content[at:])
			line += bytes.Count(content[at:at+length], []byte("\n"))
		case '.':
			dots++
		case '{':
			dots, braces = 0, braces+1
		case '}':
			dots, braces = 0, braces-1
		case '\n':
			dots, line = 0, line+1
		case '=', ',', '[', ']':
			dots = 0
		}
		if dots > maxNesting || braces > maxNesting {
			return line
		}
		at += length
	}
	return 0
}

// lineLength returns how many bytes stand before the next line break.
func lineLength(text []byte) int {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// stringLength returns the length of the TOML string at the start of text, with its
// quotes. An unterminated one takes the rest of its line, or of the text if it has three
// quotes.
func stringLength(text []byte) int {
	quote := text[0]
	fence := bytes.Repeat([]byte{quote}, 3)
	if !bytes.HasPrefix(text, fence) {
		fence = fence[:1]
		text = text[:lineLength(text)]
	}
	for at := len(fence); at < len(text); at++ {
		switch {
		case text[at] == '\\' && quote == '"':
			at++
		case bytes.HasPrefix(text[at:], fence):
			end := at + len(fence)
			// Up to two more quotes may come right before the closing three.
			for extra := 0; len(fence) == 3 && extra < 2 && end < len(text) && text[end] == quote; extra++ {
				end++
			}
			return end
		}
	}
	return len(text)
}

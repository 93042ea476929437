package config

import "bytes"

// maxNesting is how many dots a key may have, and how many inline tables may
// are in each other. Valid keys need three.
const maxNesting = 8

// tooDeep returns the line, from 1, at which tables nest beyond maxNesting, or
// 0. The time the decoder takes grows with the cube of the nesting: a key of
// 64 KiB takes minutes, and a project file comes from strangers.
//
// It follows TOML's strings and comments as far as the text is valid; beyond
// the first error the decoder does not read either.
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

// stringLength returns the length of the TOML string, with its quotes, that
// text begins with. One that does not end takes its line, or all of the text
// when it has three quotes.
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
			// Two more quotes may stand right before the closing three.
			for extra := 0; len(fence) == 3 && extra < 2 && end < len(text) && text[end] == quote; extra++ {
				end++
			}
			return end
		}
	}
	return len(text)
}

package config

import (
	"bytes"

	"codeloops/internal/wording"
)

// maxNesting bounds the dots in a key, and the nesting of inline tables. Valid keys need
// three.
const maxNesting = 8

// literals matches TOML's comments and strings. An unterminated string takes the rest of its line, or of the text if it
// has three quotes: up to two more may come right before the closing ones.
var literals = wording.Pattern(`(?s)"""(?:\\.|[^\\])*?(?:"{3,5}|\\?\z)|'''.*?(?:'{3,5}|\z)|"(?:\\[^\n]|[^"\\\n])*"?|'[^'\n]*'?|#[^\n]*`)

// tooDeep returns the line, from 1, at which tables are nested deeper than maxNesting, or
// 0. The decoder's time grows with the cube of the nesting: it would take minutes for a
// key of 64 KiB in a stranger's project file. After the first error in the text the decoder stops.
func tooDeep(content []byte) int {
	lines := func(text []byte) int { return bytes.Count(text, []byte("\n")) }
	content = literals().ReplaceAllFunc(content, func(text []byte) []byte { return bytes.Repeat([]byte("\n"), lines(text)) })
	dots, braces := 0, 0
	for i, c := range content {
		switch c {
		case '.':
			dots++
		case '{':
			dots, braces = 0, braces+1
		case '}':
			dots, braces = 0, braces-1
		case '=', ',', '[', ']', '\n':
			dots = 0
		}
		if dots > maxNesting || braces > maxNesting {
			return 1 + lines(content[:i])
		}
	}
	return 0
}

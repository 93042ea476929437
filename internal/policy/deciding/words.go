package deciding

import (
	"cmp"
	"slices"
	"strings"
)

// A simple is a simple command of a line.
type simple struct {
	words  []string
	input  []string // files redirected to its standard input
	leaves bool     // a subshell ends after it
}

// split splits a line into its commands, nested ones included. It handles quotes, operators
// and comments; expansions stay as they are.
func split(line string) []simple {
	s := splitter{rest: line}
	for s.rest != "" {
		s.step()
	}
	s.end()
	return s.all
}

type splitter struct {
	rest string

	all    []simple
	now    simple
	word   strings.Builder
	inWord bool      // set for an empty word, too: ''
	into   *[]string // where a redirected word goes; nil: it is none
}

func (s *splitter) step() {
	c := s.rest[0]
	switch {
	case c == '\\':
		s.escaped()
	case c == '\'':
		s.quoted(1, strings.IndexByte(s.rest[1:], '\''))
	case c == '"':
		s.doubled()
	case c == '$' || c == '`':
		s.expansion()
	case c == ' ' || c == '\t' || c == '\r':
		s.endWord()
		s.skip(1)
	case c == '#' && !s.inWord:
		comment, _, _ := strings.Cut(s.rest, "\n")
		s.skip(len(comment))
	case c == '<' || c == '>':
		s.redirected()
	case strings.IndexByte(";&|\n(){}", c) >= 0:
		s.operator(c)
	default:
		s.take(s.rest[:1])
		s.skip(1)
	}
}

func (s *splitter) skip(n int) { s.rest = s.rest[min(n, len(s.rest)):] }

func (s *splitter) take(text string) {
	s.word.WriteString(text)
	s.inWord = true
}

func (s *splitter) escaped() {
	if len(s.rest) > 1 && s.rest[1] != '\n' {
		s.take(s.rest[1:2])
	}
	s.skip(2)
}

// quoted takes length bytes between quotes; a negative length is the rest.
func (s *splitter) quoted(from, length int) {
	if length < 0 {
		length = len(s.rest) - from
	}
	s.take(s.rest[from : from+length])
	s.skip(from + length + 1)
}

func (s *splitter) doubled() {
	s.take("")
	s.skip(1)
	for s.rest != "" && s.rest[0] != '"' {
		switch s.rest[0] {
		case '\\':
			s.escaped()
		case '$', '`':
			s.expansion()
		default:
			s.take(s.rest[:1])
			s.skip(1)
		}
	}
	s.skip(1)
}

// expansion takes a shell expansion as it is.
func (s *splitter) expansion() {
	end := 1
	if s.rest[0] == '`' {
		if i := strings.IndexByte(s.rest[1:], '`'); i >= 0 {
			end = i + 2
		}
	} else if strings.HasPrefix(s.rest, "$(") {
		end = closing(s.rest[1:], '(', ')') + 1
	} else if strings.HasPrefix(s.rest, "${") {
		end = closing(s.rest[1:], '{', '}') + 1
	}
	s.take(s.rest[:end])
	s.skip(end)
}

// closing returns the offset after the bracket that closes the first one of a text, or the
// end of the text.
func closing(text string, open, end byte) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func (s *splitter) redirected() {
	from := s.rest[0] == '<' && !strings.HasPrefix(s.rest, "<<") && !strings.HasPrefix(s.rest, "<(")
	if digits := s.word.String(); strings.Trim(digits, "0123456789") == "" {
		s.word.Reset() // a descriptor
		s.inWord = false
	}
	s.endWord()
	s.into = new([]string) // of no interest
	if from {
		s.into = &s.now.input
	}
	s.skip(len(s.rest) - len(strings.TrimLeft(s.rest, "<>&|")))
}

func (s *splitter) operator(c byte) {
	if (c == '{' || c == '}') && (s.inWord || len(s.rest) > 1 && !strings.ContainsAny(s.rest[1:2], " \t\n;)")) {
		s.take(string(c)) // part of a word: {a,b}
		s.skip(1)
		return
	}
	s.end()
	if c == ')' && len(s.all) > 0 {
		s.all[len(s.all)-1].leaves = true
	}
	s.skip(1)
}

func (s *splitter) endWord() {
	if !s.inWord {
		return
	}
	into := cmp.Or(s.into, &s.now.words)
	*into = append(*into, s.word.String())
	s.word.Reset()
	s.inWord, s.into = false, nil
}

func (s *splitter) end() {
	s.endWord()
	s.into = nil
	if len(s.now.words) > 0 {
		s.all = append(s.all, s.now)
	}
	s.now = simple{}
}

// stripped removes what may precede a command: keywords, assignments, and builtins that do
// not change which file is run.
func stripped(words []string) []string {
	keywords := []string{"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "exec", "command", "builtin"}
	for len(words) > 0 && (slices.Contains(keywords, words[0]) || assigns(words[0])) {
		words = words[1:]
	}
	return words
}

// assigns reports whether a word sets a variable.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/.-$ ")
}

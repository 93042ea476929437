package ui

import (
	"slices"
	"strings"
	"unicode"

	"codeloops/internal/loop"
)

// A piece is a part of a line: marked, if it is what has changed in it.
type piece struct {
	Text   string
	Marked bool
}

// A side is a line as it was, or as it is.
type side struct {
	Number int // 0: there is none
	Class  string
	Pieces []piece
}

// A pair is what stands beside each other: a line as it was and as it is. A heading of a hunk has only Hunk.
type pair struct {
	Hunk     string
	Old, New side
}

// pairs returns the lines of a patch, the old and the new ones of a block beside each other, with the words marked that
// differ.
func pairs(patch string) (all []pair) {
	var dels, adds []loop.PatchLine
	flush := func() {
		for i := range max(len(dels), len(adds)) {
			var p pair
			switch {
			case i >= len(adds):
				p.Old = side{dels[i].Old, "del", whole(dels[i].Text)}
			case i >= len(dels):
				p.New = side{adds[i].New, "add", whole(adds[i].Text)}
			default:
				was, is := marked(text(dels[i].Text), text(adds[i].Text))
				p.Old, p.New = side{dels[i].Old, "del", was}, side{adds[i].New, "add", is}
			}
			all = append(all, p)
		}
		dels, adds = nil, nil
	}
	for l := range loop.PatchLines(patch) {
		switch l.Op {
		case '-':
			if len(adds) > 0 {
				flush()
			}
			dels = append(dels, l)
			continue
		case '+':
			adds = append(adds, l)
			continue
		}
		flush()
		switch l.Op {
		case '@':
			all = append(all, pair{Hunk: "@" + text(l.Text)})
		case ' ':
			all = append(all, pair{Old: side{l.Old, "same", whole(l.Text)}, New: side{l.New, "same", whole(l.Text)}})
		default: // "\ No newline at end of file"
			all = append(all, pair{Hunk: string(l.Op) + text(l.Text)})
		}
	}
	flush()
	return all
}

func text(line string) string { return strings.TrimRight(line, "\r\n") }

func whole(line string) []piece { return []piece{{Text: text(line)}} }

// mostWords limits the words of a line that are compared: it takes their square.
const mostWords = 300

// marked compares two lines word by word.
func marked(was, is string) (before, after []piece) {
	a, b := split(was), split(is)
	if len(a) > mostWords || len(b) > mostWords {
		return whole(was), whole(is)
	}
	same := common(a, b)
	i, j, kept := 0, 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			before, after = join(before, a[i], false), join(after, b[j], false)
			kept += len(strings.TrimSpace(a[i]))
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && same[i+1][j] >= same[i][j+1]:
			before = join(before, a[i], true)
			i++
		default:
			after = join(after, b[j], true)
			j++
		}
	}
	if kept == 0 { // they have nothing to do with each other
		return whole(was), whole(is)
	}
	return before, after
}

// common returns how many words two texts have in common at most, from each word on.
func common(a, b []string) [][]int {
	same := make([][]int, len(a)+1)
	for i := range same {
		same[i] = make([]int, len(b)+1)
	}
	for i, word := range slices.Backward(a) {
		for j, other := range slices.Backward(b) {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); word == other {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	return same
}

func join(all []piece, word string, is bool) []piece {
	if n := len(all); n > 0 && all[n-1].Marked == is {
		all[n-1].Text += word
		return all
	}
	return append(all, piece{word, is})
}

// split returns the words of a line, and what is between them.
func split(line string) (words []string) {
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	begin, last := 0, -1
	for at, r := range line {
		k := kind(r)
		if at > begin && (k != last || k == 0) {
			words = append(words, line[begin:at])
			begin = at
		}
		last = k
	}
	if begin < len(line) {
		words = append(words, line[begin:])
	}
	return words
}

package lesson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// common are words that tell nothing of a task.
const common = "a an and are as at be but by can do for from has have how if in into is it its make no not of on or our " +
	"should so task that the then there this to up use want was we when which with you your"

// maxTerms is how many words of a task count: a longer one has said by then what it is about.
const maxTerms = 256

// rank returns the numbers of the lines that share words with a task, the most fitting
// first, by BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"). Lines
// are read as they stand in a file: to decode ten thousand of them takes longer than to
// look through them.
func rank(lines [][]byte, task string) (order []int) {
	terms := termsOf(task)
	var maybe [1 << 12]bool // most words are none of the terms, and that is quickly told
	for sum := range terms {
		maybe[sum%uint32(len(maybe))] = true
	}
	counts, among, size := make([]uint16, len(lines)*len(terms)), make([]int, len(terms)), 0
	for i, line := range lines {
		size += len(line)
		count := counts[i*len(terms):][:len(terms)]
		eachWord(line, func(sum uint32) {
			if !maybe[sum%uint32(len(maybe))] {
				return
			}
			if t, ok := terms[sum]; ok {
				if count[t] == 0 {
					among[t]++
				}
				count[t]++
			}
		})
	}
	const k1, b = 1.2, 0.75
	score := make([]float64, len(lines))
	for i, line := range lines {
		length := float64(len(line)*len(lines)) / float64(size)
		for t, count := range counts[i*len(terms):][:len(terms)] {
			if n := float64(count); n > 0 {
				rare := math.Log1p((float64(len(lines)-among[t]) + 0.5) / (float64(among[t]) + 0.5))
				score[i] += rare * n * (k1 + 1) / (n + k1*(1-b+b*length))
			}
		}
		if score[i] > 0 {
			order = append(order, i)
		}
	}
	// Of two that fit alike, the later one has learned more.
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(score[y], score[x]), y-x) })
	return order
}

// termsOf are the words by which lessons are looked for, by their sums, with their numbers.
func termsOf(task string) map[uint32]int {
	idle := map[uint32]bool{}
	eachWord([]byte(common), func(sum uint32) { idle[sum] = true })
	terms := map[uint32]int{}
	text, _ := json.Marshal(task) // lessons are encoded, too; a string always can be
	eachWord(text, func(sum uint32) {
		if _, known := terms[sum]; !known && !idle[sum] && len(terms) < maxTerms {
			terms[sum] = len(terms)
		}
	})
	return terms
}

// FNV-1a.
const offset, prime = 2166136261, 16777619

// eachWord calls a function with a sum of each word of a text: letters and digits in a row,
// in any case; of scripts without spaces, each letter. The text is JSON: the names of members
// are no words, and what a backslash stands before is part of none.
func eachWord(text []byte, word func(sum uint32)) {
	sum, within := uint32(offset), false
	end := func(i int) {
		if within && !bytes.HasPrefix(text[i:], []byte(`":`)) {
			word(sum)
		}
		sum, within = offset, false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9':
			sum, within = (sum^uint32(c|0x20))*prime, true // in lower case; digits have that bit
		case c < utf8.RuneSelf:
			end(i)
			if c == '\\' {
				i++
			}
		default:
			r, n := utf8.DecodeRune(text[i:])
			i += n - 1
			dense := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
			if dense || !unicode.In(r, unicode.L, unicode.N, unicode.M) {
				end(i)
			}
			if unicode.In(r, unicode.L, unicode.N, unicode.M) {
				sum, within = (sum^uint32(unicode.ToLower(r)))*prime, true
			}
			if dense {
				end(i)
			}
		}
	}
	end(len(text))
}

// linesOf are the lines of a file, without their ends.
func linesOf(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte{'\n'})+1)
	for line := range bytes.Lines(text) {
		lines = append(lines, bytes.TrimRight(line, "\r\n"))
	}
	return lines
}

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

// stopWords say nothing about a task.
const stopWords = "a an and are as at be but by can do for from has have how if in into is it its make no not of on or our " +
	"should so task that the then there this to up use want was we when which with you your"

// maxTerms limits how many words of a task count; the first ones say what it is about.
const maxTerms = 256

// rank returns the indexes of the lines that share words with a task, the most relevant first, by
// BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"). The lines are not
// decoded: decoding ten thousand of them takes longer than searching them.
func rank(lines [][]byte, task string) (order []int) {
	terms := termsOf(task)
	var maybe [1 << 12]bool // rejects most words that are not terms faster than the map does
	for hash := range terms {
		maybe[hash%uint32(len(maybe))] = true
	}
	counts, among, size := make([]uint16, len(lines)*len(terms)), make([]int, len(terms)), 0
	for i, line := range lines {
		size += len(line)
		count := counts[i*len(terms):][:len(terms)]
		eachWord(line, func(hash uint32) {
			if !maybe[hash%uint32(len(maybe))] {
				return
			}
			if t, ok := terms[hash]; ok {
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
	// Of two equally relevant lines, the later one knows more.
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(score[y], score[x]), y-x) })
	return order
}

// termsOf numbers the words of a task that lessons are searched for, by their hashes.
func termsOf(task string) map[uint32]int {
	stop := map[uint32]bool{}
	eachWord([]byte(stopWords), func(hash uint32) { stop[hash] = true })
	terms := map[uint32]int{}
	text, _ := json.Marshal(task) // like the lessons; a string can always be encoded
	eachWord(text, func(hash uint32) {
		if _, known := terms[hash]; !known && !stop[hash] && len(terms) < maxTerms {
			terms[hash] = len(terms)
		}
	})
	return terms
}

// FNV-1a.
const offset, prime = 2166136261, 16777619

// eachWord calls a function with the hash of each word of a JSON text. A word is a run of letters
// and digits, in upper or lower case; in scripts without spaces it is a single letter. Names of
// members are not words, and an escaped character is not part of one.
func eachWord(text []byte, word func(hash uint32)) {
	hash, within := uint32(offset), false
	end := func(i int) {
		if within && !bytes.HasPrefix(text[i:], []byte(`":`)) {
			word(hash)
		}
		hash, within = offset, false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9':
			hash, within = (hash^uint32(c|0x20))*prime, true // in lower case; digits have that bit
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
				hash, within = (hash^uint32(unicode.ToLower(r)))*prime, true
			}
			if dense {
				end(i)
			}
		}
	}
	end(len(text))
}

// linesOf returns the lines of a file, without their ends.
func linesOf(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte{'\n'})+1)
	for line := range bytes.Lines(text) {
		lines = append(lines, bytes.TrimRight(line, "\r\n"))
	}
	return lines
}

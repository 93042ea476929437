package patch

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

const (
	// base85Digits are the digits of RFC 1924, which git's base 85 shares.
	base85Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	// lineBytes is how many bytes a line of a binary patch carries.
	lineBytes = 52
)

// appendBinary appends a "GIT binary patch" with both contents in full, so that
// it applies in both directions. The format is that of `git diff --binary`; the
// deflated bytes differ from git's.
func appendBinary(dst, before, after []byte) []byte {
	dst = append(dst, "GIT binary patch\n"...)
	return appendLiteral(appendLiteral(dst, after), before)
}

func appendLiteral(dst, content []byte) []byte {
	dst = fmt.Appendf(dst, "literal %d\n", len(content))
	rest := deflate(content)
	for len(rest) > 0 {
		n := min(len(rest), lineBytes)
		dst = append(dst, lengthLetter(n))
		dst = appendBase85(dst, rest[:n])
		dst = append(dst, '\n')
		rest = rest[n:]
	}
	return append(dst, '\n')
}

// deflate trades size for speed: a capture waits for it.
func deflate(content []byte) []byte {
	var b bytes.Buffer
	// The level is a valid one, so there is a writer; a buffer takes every write.
	w, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}

// lengthLetter tells how many bytes a line decodes to: A is 1, z is 52.
func lengthLetter(n int) byte {
	if n <= 26 {
		return byte('A' + n - 1)
	}
	return byte('a' + n - 27)
}

// appendBase85 appends five digits for every four bytes of data, the last of
// them filled up with zeros.
func appendBase85(dst, data []byte) []byte {
	for len(data) > 0 {
		var word [4]byte
		n := copy(word[:], data)
		data = data[n:]
		value := uint32(word[0])<<24 | uint32(word[1])<<16 | uint32(word[2])<<8 | uint32(word[3])
		var digits [5]byte
		for i := len(digits) - 1; i >= 0; i-- {
			digits[i] = base85Digits[value%85]
			value /= 85
		}
		dst = append(dst, digits[:]...)
	}
	return dst
}

// Base85 returns the bytes that the lines of a binary patch stand for; false
// when they are not what appendBinary writes.
func Base85(lines string) ([]byte, bool) {
	var data []byte
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		n := letterLength(line[0])
		digits := line[1:]
		if n == 0 || len(digits) != (n+3)/4*5 {
			return nil, false
		}
		for ; len(digits) > 0; digits = digits[5:] {
			word, ok := word85(digits[:5])
			if !ok {
				return nil, false
			}
			data = append(data, word[:min(n, len(word))]...)
			n -= len(word)
		}
	}
	return data, true
}

func letterLength(letter byte) int {
	switch {
	case 'A' <= letter && letter <= 'Z':
		return int(letter-'A') + 1
	case 'a' <= letter && letter <= 'z':
		return int(letter-'a') + 27
	}
	return 0
}

func word85(digits string) (word [4]byte, ok bool) {
	var value uint64
	for i := range len(digits) {
		digit := strings.IndexByte(base85Digits, digits[i])
		if digit < 0 {
			return word, false
		}
		value = value*85 + uint64(digit)
	}
	binary.BigEndian.PutUint32(word[:], uint32(value))
	return word, value <= math.MaxUint32
}

package patch

import (
	"bytes"
	"compress/zlib"
	"fmt"
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

package rename

import "codeloops/internal/diff/patch"

// chunkBytes is how long the chunks of a line are.
const chunkBytes = 64

// kinds is the number of hash values that git distinguishes.
const kinds = 107927

// chunks counts the bytes of a content by the hash of their chunk. A carriage return at the
// end of a line of text does not count.
func chunks(content []byte) map[uint32]int {
	counts := make(map[uint32]int)
	text := !patch.Binary(content)
	for len(content) > 0 {
		var h hash
		n, end := 0, 0
		for n < chunkBytes && end < len(content) {
			c := content[end]
			end++
			if text && c == '\r' && end < len(content) && content[end] == '\n' {
				continue
			}
			n++
			h.add(c)
			if c == '\n' {
				break
			}
		}
		content = content[end:]
		if n > 0 {
			counts[h.kind()] += n
		}
	}
	return counts
}

// A hash is 64 bits in two halves, which are rotated left by 7 for each byte.
type hash struct{ a, b uint32 }

func (h *hash) add(c byte) {
	h.a, h.b = h.a<<7^h.b>>25, h.b<<7^h.a>>25
	h.a += uint32(c)
}

func (h *hash) kind() uint32 { return (h.a + h.b*0x61) % kinds }

// common returns how many bytes are in chunks that both have.
func common(a, b map[uint32]int) (n int) {
	if len(a) > len(b) {
		a, b = b, a
	}
	for kind, count := range a {
		n += min(count, b[kind])
	}
	return n
}

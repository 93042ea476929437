package patch

import "testing"

// TestLengthLetter: the lines of a binary patch begin with how many bytes they
// carry, by the letters of git.
func TestLengthLetter(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]byte{1: 'A', 26: 'Z', 27: 'a', lineBytes: 'z'} {
		if got := lengthLetter(n); got != want {
			t.Errorf("%d bytes: %c, want %c", n, got, want)
		}
	}
}

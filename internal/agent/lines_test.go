package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"codeloops/internal/loop"
)

// The lines do not depend on how the bytes are split into chunks.
func TestLinesChunking(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", maxPiece)
	in := "one\ntwo\r\n\n" + long + "\nno end"
	for _, size := range []int{1, 2, 3, 7, 4096, maxPiece, maxPiece + 1, len(in)} {
		var pieces []string
		l := newLines(func(n loop.Notice) { pieces = append(pieces, n.Text) })
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			l.write("stdout", []byte(rest[:n]))
			rest = rest[n:]
		}
		l.flush()
		if got := strings.Join(pieces, ""); got != in {
			t.Errorf("chunks of %d: %d bytes came out of %d", size, len(got), len(in))
		}
		for i, p := range pieces {
			if !utf8.ValidString(p) {
				t.Errorf("chunks of %d: piece %d is cut inside a character", size, i)
			}
			if i < len(pieces)-1 && !strings.HasSuffix(p, "\n") && len(p) < maxPiece-utf8.UTFMax {
				t.Errorf("chunks of %d: piece %d, %.20q, is not a line", size, i, p)
			}
		}
	}
}

func TestLinesKeepsStreamsApart(t *testing.T) {
	t.Parallel()
	var got []string
	l := newLines(func(n loop.Notice) { got = append(got, n.Stream+":"+n.Text) })
	l.write("stdout", []byte("a"))
	l.write("stderr", []byte("b\n"))
	l.write("stdout", []byte("c\nd"))
	l.write("stderr", []byte{0xff})
	l.flush()
	equal(t, "pieces", got, []string{"stderr:b\n", "stdout:ac\n", "stdout:d", "stderr:\xff"})
}

func TestLinesOfBytesThatAreNoCharacters(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("\x80", 3*maxPiece)
	var got strings.Builder
	l := newLines(func(n loop.Notice) {
		if len(n.Text) > maxPiece {
			t.Errorf("a piece of %d bytes", len(n.Text))
		}
		got.WriteString(n.Text)
	})
	l.write("stdout", []byte(in))
	l.flush()
	if got.String() != in {
		t.Errorf("%d bytes came out of %d", got.Len(), len(in))
	}
}

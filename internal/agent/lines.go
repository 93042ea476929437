package agent

import (
	"bytes"
	"unicode/utf8"

	"codeloops/internal/loop"
)

// maxPiece bounds what waits for the end of its line, in bytes.
const maxPiece = 16 << 10

// lines passes whole lines to a watch, with their line ends. A line of more than maxPiece
// comes in pieces, cut between characters. It is not safe for concurrent use.
type lines struct {
	watch   loop.Watch
	waiting map[string][]byte // by stream: the start of a line
}

func newLines(watch loop.Watch) *lines {
	return &lines{watch: watch, waiting: map[string][]byte{}}
}

// write takes the next bytes of a stream, and does not keep them.
func (l *lines) write(stream string, chunk []byte) {
	waiting := append(l.waiting[stream], chunk...)
	rest := waiting
	if end := bytes.LastIndexByte(chunk, '\n') + 1; end > 0 {
		end += len(waiting) - len(chunk)
		l.pass(stream, waiting[:end])
		rest = waiting[end:]
	}
	for len(rest) > maxPiece {
		cut := boundary(rest, maxPiece)
		l.pass(stream, rest[:cut])
		rest = rest[cut:]
	}
	l.waiting[stream] = append(waiting[:0], rest...)
}

// flush passes on what is left without a line end.
func (l *lines) flush() {
	for _, stream := range []string{"stdout", "stderr"} {
		l.pass(stream, l.waiting[stream])
		delete(l.waiting, stream)
	}
}

func (l *lines) pass(stream string, text []byte) {
	if len(text) > 0 {
		l.watch(loop.Notice{Kind: loop.NoticeOutput, Stream: stream, Text: string(text)})
	}
}

// boundary returns the last index up to n that is not inside a character, or n if the
// bytes are not UTF-8.
func boundary(b []byte, n int) int {
	for cut := n; cut > n-utf8.UTFMax && cut > 0; cut-- {
		if utf8.RuneStart(b[cut]) {
			return cut
		}
	}
	return n
}

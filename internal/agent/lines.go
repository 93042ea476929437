package agent

import (
	"bytes"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
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
		piece := proc.WholeEnd(rest[:maxPiece])
		l.pass(stream, piece)
		rest = rest[len(piece):]
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

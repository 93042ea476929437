package lines_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// The following code applies unified hunks. It trusts nothing: it checks every number and
// every line.

const noNewline = "\\ No newline at end of file\n"

// applyHunks applies hunks to content. It returns an error if a hunk does not fit exactly
// where its header says.
func applyHunks(content, hunks []byte) ([]byte, error) {
	a := applier{source: splitLines(content)}
	text := joinUnended(hunks)
	for len(text) > 0 {
		h, err := parseHeader(string(text[0]))
		if err != nil {
			return nil, err
		}
		if err := a.goTo(h); err != nil {
			return nil, err
		}
		if text, err = a.hunk(h, text[1:]); err != nil {
			return nil, err
		}
	}
	return append(a.out, bytes.Join(a.source[a.at:], nil)...), nil
}

// An applier has applied all hunks up to a line of its source.
type applier struct {
	source   [][]byte
	at       int
	out      []byte
	outLines int
}

// goTo copies the lines before a hunk.
func (a *applier) goTo(h header) error {
	if h.start < a.at || h.start > len(a.source) {
		return fmt.Errorf("hunk at line %d of %d, after line %d", h.start, len(a.source), a.at)
	}
	for a.at < h.start {
		a.put(a.source[a.at])
		a.at++
	}
	if a.outLines != h.newStart {
		return fmt.Errorf("hunk for new line %d is at new line %d", h.newStart, a.outLines)
	}
	return nil
}

func (a *applier) put(line []byte) {
	a.out = append(a.out, line...)
	a.outLines++
}

// hunk applies one hunk and returns the rest of the text.
func (a *applier) hunk(h header, text [][]byte) (rest [][]byte, err error) {
	for h.size > 0 || h.newSize > 0 {
		if len(text) == 0 {
			return nil, errors.New("the last hunk is too short")
		}
		mark, line := text[0][0], text[0][1:]
		text = text[1:]
		if mark != ' ' && mark != '-' && mark != '+' {
			return nil, fmt.Errorf("a line of a hunk starts with %q", mark)
		}
		if mark != '+' {
			if a.at == len(a.source) || !bytes.Equal(a.source[a.at], line) {
				return nil, fmt.Errorf("line %d is not %.80q", a.at, line)
			}
			a.at++
			h.size--
		}
		if mark != '-' {
			a.put(line)
			h.newSize--
		}
	}
	if h.size != 0 || h.newSize != 0 {
		return nil, errors.New("a hunk is longer than it says")
	}
	return text, nil
}

func splitLines(content []byte) [][]byte {
	var split [][]byte
	for line := range bytes.Lines(content) {
		split = append(split, line)
	}
	return split
}

// joinUnended splits hunks into lines. It removes the newline from lines that have none
// in the content.
func joinUnended(hunks []byte) [][]byte {
	var joined [][]byte
	for line := range bytes.Lines(hunks) {
		if last := len(joined) - 1; last >= 0 && string(line) == noNewline {
			joined[last] = bytes.TrimSuffix(joined[last], []byte("\n"))
			continue
		}
		joined = append(joined, line)
	}
	return joined
}

// A header is the first line of a hunk. Its line numbers start at zero.
type header struct{ start, size, newStart, newSize int }

func parseHeader(line string) (header, error) {
	ranges, ok := strings.CutPrefix(line, "@@ -")
	ranges, _, closed := strings.Cut(ranges, " @@")
	before, after, both := strings.Cut(ranges, " +")
	if !ok || !closed || !both {
		return header{}, fmt.Errorf("%.80q is not the start of a hunk", line)
	}
	var h header
	var err, errAfter error
	h.start, h.size, err = parseRange(before)
	h.newStart, h.newSize, errAfter = parseRange(after)
	return h, errors.Join(err, errAfter)
}

func parseRange(text string) (start, size int, err error) {
	size = 1
	if strings.Contains(text, ",") {
		_, err = fmt.Sscanf(text, "%d,%d", &start, &size)
	} else {
		_, err = fmt.Sscanf(text, "%d", &start)
	}
	if size > 0 {
		start--
	}
	return start, size, err
}

// reverseHunks returns the hunks that undo hunks.
func reverseHunks(hunks []byte) []byte {
	var out, inserted []byte
	last := &out
	for line := range bytes.Lines(hunks) {
		switch line[0] {
		case '-':
			// Insertions must follow the deletions.
			inserted = append(append(inserted, '+'), line[1:]...)
			last = &inserted
		case '+':
			out = append(append(out, '-'), line[1:]...)
			last = &out
		case '\\':
			*last = append(*last, line...)
		default:
			out = append(append(out, inserted...), reverseHeader(line)...)
			inserted, last = inserted[:0], &out
		}
	}
	return append(out, inserted...)
}

// reverseHeader swaps the ranges of a header. Other lines stay the same.
func reverseHeader(line []byte) []byte {
	fields := bytes.SplitN(line, []byte(" "), 4)
	if line[0] != '@' || len(fields) < 4 {
		return line
	}
	return fmt.Appendf(nil, "@@ -%s +%s %s", fields[2][1:], fields[1][1:], fields[3])
}

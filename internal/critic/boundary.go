package critic

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A boundary is the random name of the lines that enclose what is evidence in
// a prompt. Who wrote the evidence cannot have known it; "" is none.
type boundary string

func (b boundary) begin(title string) string { return fmt.Sprintf("[%s begin: %s]", b, title) }

func (b boundary) end(title string) string { return fmt.Sprintf("[%s end: %s]", b, title) }

// in reports whether a line holds the name.
func (b boundary) in(line string) bool { return b != "" && strings.Contains(line, string(b)) }

// opens and closes report whether a line is one of the boundary's own,
// whatever Markdown stands around it.
func (b boundary) opens(line string) bool { return b.marks(line, "begin") }

func (b boundary) closes(line string) bool { return b.marks(line, "end") }

func (b boundary) marks(line, what string) bool {
	line = strings.TrimLeft(line, "*_`>-# \t")
	return strings.HasPrefix(line, "["+string(b)+" "+what+":")
}

// errBoundary reports a source of randomness that gives no usable name.
var errBoundary = errors.New("the source of randomness gives no name that the evidence does not hold")

// draw reads a name from random that stands nowhere in the texts.
func draw(random io.Reader, texts []string) (boundary, error) {
	const tries = 8
	raw := make([]byte, 12)
	for range tries {
		if _, err := io.ReadFull(random, raw); err != nil {
			return "", fmt.Errorf("draw the name of the boundary: %w", err)
		}
		name := hex.EncodeToString(raw)
		if !containsAny(texts, name) {
			return boundary(name), nil
		}
	}
	return "", errBoundary
}

func containsAny(texts []string, s string) bool {
	for _, t := range texts {
		if strings.Contains(t, s) {
			return true
		}
	}
	return false
}

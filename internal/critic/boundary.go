package critic

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
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

// drawBoundary draws a name that stands nowhere in the texts.
func drawBoundary(random io.Reader, texts []string) (boundary, error) {
	name, err := draw(random, texts, func(random io.Reader) (string, error) {
		raw := make([]byte, 12)
		_, err := io.ReadFull(random, raw)
		return hex.EncodeToString(raw), err
	})
	return boundary(name), err
}

// errRandom reports a source of randomness that gives no usable word.
var errRandom = errors.New("the source of randomness gives no word that the evidence does not hold")

// draw spells a random word that stands nowhere in the texts, in any case.
func draw(random io.Reader, texts []string, spell func(io.Reader) (string, error)) (string, error) {
	const tries = 8
	for range tries {
		word, err := spell(random)
		if err != nil {
			return "", fmt.Errorf("draw a random word for the critic's prompt: %w", err)
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), word) }) {
			return word, nil
		}
	}
	return "", errRandom
}

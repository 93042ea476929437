package prompt

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Boundary is the random name in the lines that enclose evidence in a prompt. The
// authors of the evidence cannot have known it. "" is none.
type Boundary string

// Begin returns the line above a piece of evidence.
func (b Boundary) Begin(title string) string { return fmt.Sprintf("[%s begin: %s]", b, title) }

// End returns the line below a piece of evidence.
func (b Boundary) End(title string) string { return fmt.Sprintf("[%s end: %s]", b, title) }

// In reports whether a line holds the name.
func (b Boundary) In(line string) bool { return b != "" && strings.Contains(line, string(b)) }

// Opens reports whether a line is the one above a piece of evidence, ignoring Markdown
// around it.
func (b Boundary) Opens(line string) bool { return b.marks(line, "begin") }

// Closes is [Boundary.Opens] for the line below.
func (b Boundary) Closes(line string) bool { return b.marks(line, "end") }

func (b Boundary) marks(line, what string) bool {
	line = strings.TrimLeft(line, "*_`>-# \t")
	return strings.HasPrefix(line, "["+string(b)+" "+what+":")
}

// DrawBoundary draws a name that is not in the texts.
func DrawBoundary(random io.Reader, texts []string) (Boundary, error) {
	name, err := Draw(random, texts, func(random io.Reader) (string, error) {
		raw := make([]byte, 12)
		_, err := io.ReadFull(random, raw)
		return hex.EncodeToString(raw), err
	})
	return Boundary(name), err
}

var errRandom = errors.New("the source of randomness gives no word that the evidence does not hold")

// Draw calls spell for random words until one is not in the texts, in upper or lower case.
func Draw(random io.Reader, texts []string, spell func(io.Reader) (string, error)) (string, error) {
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

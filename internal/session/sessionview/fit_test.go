package sessionview

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/screen/term"
)

// TestFit holds what is quick against what it stands for, on texts of all
// kinds of characters.
func TestFit(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "word", " ", "é", "日", "e\u0301", "👩‍👩‍👧", "\u200b", "\x1b[31m", "\n", "…", "\u00a0"}
	for range 3000 {
		var b strings.Builder
		for range rnd.IntN(60) {
			b.WriteString(parts[min(rnd.IntN(len(parts)), rnd.IntN(len(parts)))])
		}
		text := b.String()
		line := term.Line(text)
		if got, want := wide(line), ansi.StringWidth(line); got != want {
			t.Fatalf("%q is %d columns wide, want %d", line, got, want)
		}
		width := rnd.IntN(40)
		want := ansi.Truncate(line, width, "…")
		if got := fit(line, width); got != want {
			t.Fatalf("%q cut to %d columns is %q, want %q", line, width, got, want)
		}
		if got := fit(lineFor(text, width), width); ansi.StringWidth(got) > width || strings.HasSuffix(got, "…") != strings.HasSuffix(want, "…") {
			t.Fatalf("%q in %d columns is %q, want %q", text, width, got, want)
		}
	}
}

package term

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestQR: a square of light with the three corners that a camera looks for.
func TestQR(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := QR(&b, "https://192.0.2.7:7777/#0123"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	width := utf8.RuneCountInString(lines[0])
	for _, line := range lines {
		if utf8.RuneCountInString(line) != width {
			t.Errorf("%q is not %d wide", line, width)
		}
	}
	corner := []rune(lines[1])
	if want := "██ ▄▄▄▄▄ █"; string(corner[:10]) != want || !strings.HasSuffix(lines[1], " ▄▄▄▄▄ ██") || strings.Trim(lines[0], "█") != "" {
		t.Errorf("it begins with\n%s", strings.Join(lines[:4], "\n"))
	}
}

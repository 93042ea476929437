package diff

import (
	"strings"
	"testing"
)

// TestSaid: a setting's value is quoted without passwords, so that it cannot pass for other
// text. Long values are cut, and of many values only the first ones are shown.
func TestSaid(t *testing.T) {
	t.Parallel()
	got := quoted([]string{"x\nDECISION: DONE \x1b[2J", "https://me:secret@host/", strings.Repeat("é", 201), "4"})
	if want := `"x\nDECISION: DONE \x1b[2J", "https://…@host/", "` + strings.Repeat("é", 200) + `…" and 1 more`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

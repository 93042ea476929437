package wording_test

import (
	"testing"

	"codeloops/internal/wording"
)

func TestShell(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"go":         "go",
		"./a-b_c=1":  "./a-b_c=1",
		"größe":      "größe",
		"":           "''",
		"a b":        "'a b'",
		"~/x":        "'~/x'",
		"it's $HOME": `'it'\''s $HOME'`,
	} {
		if got := wording.Shell(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

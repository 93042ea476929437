package tamper_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"codeloops/internal/policy/tamper"
)

// TestKindsDocs: docs/limits.md lists all kinds, in their order.
func TestKindsDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []tamper.Kind
	for _, m := range regexp.MustCompile("(?m)^- `(\\w+_\\w+)`:").FindAllStringSubmatch(string(page), -1) {
		if k := tamper.Kind(m[1]); k.Title() != "" {
			listed = append(listed, k)
		}
	}
	if !slices.Equal(listed, tamper.Kinds()) {
		t.Errorf("the list has %q, want %q", listed, tamper.Kinds())
	}
	for _, k := range tamper.Kinds() {
		if k.Title() == "" {
			t.Errorf("%s has no title", k)
		}
	}
}

package tamper

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// BenchmarkTables reads the program's own tables, which every run does once.
func BenchmarkTables(b *testing.B) {
	for b.Loop() {
		if err := (&Tables{}).read(tablesFile); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTables: the program's own tables are valid, and a user's come before them.
func TestTables(t *testing.T) {
	t.Parallel()
	if err := (&Tables{}).read(tablesFile); err != nil {
		t.Fatal(err)
	}
	for _, l := range Standard().Languages {
		if len(l.Tests) == 0 || l.Asserts.Regexp == nil {
			t.Errorf("%s has no tests, or no assertions", l.Name)
		}
	}
	page, err := os.ReadFile("../../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "\n    [[language]]")
	example, _, _ = strings.Cut("[[language]]"+example, "\n\n#")
	more, err := Standard().With(strings.ReplaceAll(example, "\n    ", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if l := more.of("src/a.zig"); l == nil || l.declared(`test "adds" {`, nil) != "adds" || more.gate("build.zig") != "the build" || more.gate("Makefile") == "" {
		t.Errorf("the tables of the page do not apply: %+v", l)
	}
	for _, wrong := range []string{"[[language]]\ntests = \"*\"", "[[language]]\nasserts = [3]", "[[language]]\nskips = ['/(/']", "[[gate]]\nfiles = ['[']", "[[languages]]", "["} {
		if _, err := Standard().With(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

// TestKindsDocs: docs/limits.md lists all kinds, in their order.
func TestKindsDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []Kind
	for _, m := range regexp.MustCompile("(?m)^- `(\\w+_\\w+)`:").FindAllStringSubmatch(string(page), -1) {
		if k := Kind(m[1]); k.Title() != "" {
			listed = append(listed, k)
		}
	}
	if !slices.Equal(listed, Kinds()) {
		t.Errorf("the list has %q, want %q", listed, Kinds())
	}
}

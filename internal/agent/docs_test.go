package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/agent/transcript"
)

// TestDocs: the page on agents agrees with the catalogue and the formats.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "adding-agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") && len(cells) == 6 {
			got = append(got, strings.Join(cells[:5], " | "))
		}
	}
	var want []string
	for _, s := range Catalogue() {
		tested := s.Tested
		if tested == "" {
			tested = "no"
		}
		row := fmt.Sprintf("| `%s` | %s | `%s` | `%s` | %s", s.Name, quoted(s.Aliases), s.Binaries[0], s.Output, tested)
		want = append(want, row)
	}
	equal(t, "rows", got, want)
	for _, format := range transcript.Formats() {
		if !strings.Contains(string(page), "\n| `"+format+"` | ") {
			t.Errorf("the format %s is not on the page", format)
		}
	}
}

func quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	var out []string
	for _, n := range names {
		out = append(out, "`"+n+"`")
	}
	return strings.Join(out, ", ")
}

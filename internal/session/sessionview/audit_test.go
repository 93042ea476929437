package sessionview_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/session/sessionview"
)

// TestAuditExcerpt: the excerpt of a change keeps its indentation, and says where it was cut.
func TestAuditExcerpt(t *testing.T) {
	t.Parallel()
	files, added, removed, size := 1, 30, 2, int64(900)
	one := sessionview.Audited{Iteration: 3, Files: &files, Insertions: &added, Deletions: &removed, Bytes: &size}
	one.Excerpt = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n \tif x {\n-\t\treturn  1\n+\t\treturn  2 // " + strings.Repeat("long ", 20) + "\n+\tha"
	var out bytes.Buffer
	err := sessionview.Audit{Session: sessionview.Row{ID: "2025"}, Iterations: []sessionview.Audited{one}}.Text(&out, sessionview.Screen{Width: 60, Style: lipgloss.NewRenderer(io.Discard)})
	for _, want := range []string{
		"                 if x {\n", "             -        return  1\n", "long…\n", "             +    ha…\n",
		"             … 29 more lines changed: codeloops sessions\n             diff 2025 --iteration 3 shows them\n",
	} {
		if err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, no %q in:\n%s", err, want, out.String())
		}
	}
}

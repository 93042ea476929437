package sessionview_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// TestAuditExcerpt: the excerpt of a change keeps its indentation, and says where it was cut.
func TestAuditExcerpt(t *testing.T) {
	t.Parallel()
	audit := loop.Audit{After: "abc", Files: 1, Insertions: 30, Deletions: 2, Bytes: 900}
	audit.Excerpt = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n \tif x {\n-\t\treturn  1\n+\t\treturn  2 // " + strings.Repeat("long ", 20) + "\n+\tha"
	whole := loop.IterationFinished{Round: loop.Round{Iteration: 3, Inspection: loop.Inspection{Audit: audit}}}
	a, err := sessionview.NewAudit(session.Overview{ID: "2025"}, func(yield func(session.Entry, error) bool) { yield(session.Entry{Event: whole}, nil) })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = a.Text(&out, sessionview.Screen{Width: 60, Style: lipgloss.NewRenderer(io.Discard)})
	for _, want := range []string{
		"                 if x {\n", "             -        return  1\n", "long…\n", "             +    ha…\n",
		"             … 29 more lines changed: codeloops sessions\n             diff 2025 --iteration 3 shows them\n",
	} {
		if err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, no %q in:\n%s", err, want, out.String())
		}
	}
}

package verdict_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// TestStyles: sixty honest replies in the styles of six models decide at the first ask, sealed, or plain where
// the form is met: with remarks, headings, tables, emoji, suggestions beside a DONE, in several languages.
func TestStyles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/honest/*.txtar")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	replies, decided := 0, 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			replies++
			parts := strings.Split(f.Name, "-")
			v, sealed, problem := verdict.Parser{Seal: "k7f2qx"}.Read(string(f.Data))
			got := strings.ToLower(string(v.Decision))
			if v.Escalation != "" {
				got = "escalate"
			}
			if problem != "" || got != parts[1] || (sealed == loop.SealRight) != (parts[2] == "sealed") {
				t.Errorf("%s, %s: %q, %s, %s", filepath.Base(file), f.Name, sealed, got, problem)
				continue
			}
			decided++
		}
	}
	t.Logf("%d of %d honest replies decide at the first ask", decided, replies)
	if replies != 60 {
		t.Errorf("there are %d replies", replies)
	}
}

package tamper

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nth says which lines are tried by each expression: every nth of them, from another
// one on.
func nth() int {
	if testing.Short() {
		return 6
	}
	return 1
}

// TestProbe tries every expression of every language on every line of the cases:
// no word keeps it from a match.
func TestProbe(t *testing.T) {
	t.Parallel()
	var lines []string
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			lines = append(lines, s.Text())
		}
		_ = f.Close()
	}
	every := nth()
	tried, quick := 0, 0
	tables, err := readTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range tables.Languages {
		for key, p := range probes(l) {
			if p == nil {
				continue
			}
			tried++
			if len(p.words()) > 0 {
				quick++
			}
			for i := tried % every; i < len(lines); i += every {
				text := lines[i]
				if (text != "" && p.expression().MatchString(text)) != p.match(text) {
					t.Errorf("%s of %v: %q holds none of %q", key, l.Ext, text, p.words())
				}
			}
		}
	}
	if tried < 50 || quick < tried*3/4 {
		t.Errorf("%d expressions, %d of them with words", tried, quick)
	}
}

func TestRequired(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`abc`:                    "abc",
		`a?bc+d`:                 "b c d",
		`(?:foo|bar\w+)\(`:       "foo bar",
		`\bx\s*=\s*(?:yes|no)\b`: "yes no",
		`(?i)abc`:                "",
		`\w+`:                    "",
		`(?:abc|\w)`:             "",
		`[xy]z*`:                 "x y",
		`(?:abc){2,}`:            "abc",
		`(?:abc){0,2}`:           "",
	} {
		words := strings.Join(re(expression).words(), " ")
		if expression == `a?bc+d` { // one of them is enough
			if words == "" || !strings.Contains(want, words) {
				t.Errorf("%s: %q", expression, words)
			}
			continue
		}
		if words != want {
			t.Errorf("%s: %q, want %q", expression, words, want)
		}
	}
}

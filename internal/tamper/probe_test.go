package tamper

import (
	"bufio"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

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
	tried, quick := 0, 0
	for _, l := range languages().languages {
		for name, field := range reflect.ValueOf(l).Elem().Fields() {
			if name.Type != reflect.TypeFor[*probe]() || field.IsNil() {
				continue
			}
			p := (*probe)(field.UnsafePointer())
			tried++
			if len(p.words()) > 0 {
				quick++
			}
			for _, text := range lines {
				if (text != "" && p.expression().MatchString(text)) != p.match(text) {
					t.Errorf("%s of %v: %q holds none of %q", name.Name, l.ext, text, p.words())
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

package term_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"codeloops/internal/screen/term"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":            {"a b\n\tc", "a b\n\tc"},
		"colour":           {"\x1b[31mred\x1b[0m", "red"},
		"title":            {"\x1b]0;owned\x07text", "text"},
		"title, ST":        {"\x1b]0;owned\x1b\\text", "text"},
		"hyperlink":        {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		"clear screen":     {"a\x1b[2J\x1b[Hb", "ab"},
		"device control":   {"a\x1bP$q\x1b\\b", "ab"},
		"C1 CSI":           {"a\u009b31mb", "ab"},
		"bell, backspace":  {"a\a\bb", "ab"},
		"carriage return":  {"10%\r20%\r\n", "10%\n20%\n"},
		"bidi override":    {"a\u202eb", "ab"},
		"bidi isolate":     {"a\u2066b", "ab"},
		"delete":           {"a\x7fb", "ab"},
		"not UTF-8":        {"a\xff\xfeb", "a\uFFFDb"},
		"accents and wide": {"é 漢字 🙂", "é 漢字 🙂"},
		"unfinished":       {"a\x1b[3", "a"},
		"NUL":              {"a\x00b", "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := term.Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	if got, want := term.Line("  a\n\x1b[1mb\x1b[0m\t c\r\n"), "a b c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzLine: Line returns the words of the cleaned text, joined by single spaces.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"", " ", "a", "  a\n\tb ", "é\u00a0é\u2003x\u3000", "\u200ba \xff", "a\u2028b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := term.Line(s), strings.Join(strings.Fields(term.Clean(s)), " "); got != want {
			t.Fatalf("Line(%q) = %q, want %q", s, got, want)
		}
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x9b", "\xc2\x9b31m", "\x1b\x1b[[", "\x1b]0;\x07", "a\r\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := term.Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("Clean(%q) is not UTF-8: %q", s, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool {
			return r != '\n' && r != '\t' && (r < ' ' || (r >= 0x7f && r < 0xa0))
		}) {
			t.Fatalf("Clean(%q) leaves a control character: %q", s, got)
		}
		if again := term.Clean(got); again != got {
			t.Fatalf("Clean is not stable: %q, then %q", got, again)
		}
	})
}

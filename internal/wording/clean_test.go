package wording_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/wording"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"plain":             {"a\tb\nc é 😀\n", "a\tb\nc é 😀\n"},
		"colours":           {"\x1b[1;31mred\x1b[0m\x1b[K", "red"},
		"CRLF":              {"a\r\nb\r\r\n", "a\nb\n"},
		"carriage return":   {"10%\r20%", "10%20%"},
		"title, BEL":        {"\x1b]0;t\ax", "x"},
		"title, ST":         {"\x1b]0;t\x1b\\x", "x"},
		"title never ends":  {"a\x1b]0;t\nb", "a\nb"},
		"title torn":        {"\x1b]0;t\x1b[1mb", "b"},
		"device string":     {"\x1bPq#0\x1b\\x", "x"},
		"character set":     {"\x1b(Bx", "x"},
		"two bytes":         {"\x1b7x\x1b8", "x"},
		"CSI torn":          {"\x1b[12\nx", "\nx"},
		"escape at the end": {"a\x1b", "a"},
		"escape, line":      {"\x1b\nx", "\nx"},
		"controls":          {"a\x00b\x07c\x7fd\u0085e", "abcde"},
		"C1 sequence":       {"a\u009b31mb\u009b0m", "ab"},
		"C1 title":          {"\u009d0;t\u009cx", "x"},
		"C1 of one":         {"a\u0084b", "ab"},
		"not UTF-8":         {"caf\xe9s", "caf\ufffds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := wording.Clean(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x9b", "\u009b31m", "\x1b\x1b[[", "\x1b]0;\x07", "a\r\nb", "\u009d\u009c", "\x1b]\u009b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := wording.Clean(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
			t.Fatalf("Clean(%q) = %q", s, got)
		}
		if again := wording.Clean(got); again != got {
			t.Fatalf("Clean is not idempotent: %q, then %q", got, again)
		}
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Fatalf("Clean(%q) = %q: a line is lost", s, got)
		}
	})
}

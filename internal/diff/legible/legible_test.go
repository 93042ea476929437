package legible_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"codeloops/internal/diff/legible"
)

func TestText(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 4000)
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ {
		noise[i] = byte(r.UintN(256))
	}
	for name, c := range map[string]struct {
		content, want string
		ok            bool
	}{
		"text":                  {"one\ttwo\r\n\x0cé\n", "one\ttwo\r\n\x0cé\n", true},
		"nothing":               {"", "", true},
		"a zero byte":           {"\x00one\n", "\\x00one\n", true},
		"zero bytes in a row":   {"#" + strings.Repeat("\x00", 300) + "\none", "#\\x00(×300)\none", true},
		"escapes":               {"one \x1b[31m of many words\n", "one \\x1b[31m of many words\n", true},
		"Latin-1":               {"stra\xdfe und andere\n", "stra\\xdfe und andere\n", true},
		"a line that is none":   {"one\n\x01\x02\x03\x04\x05\n\x06\x07\ntwo", "one\n[9 bytes that are no text]\ntwo", true},
		"UTF-16":                {"\xff\xfeo\x00n\x00e\x00\n\x00", "one\n", true},
		"UTF-16, big end first": {"\xfe\xff\x00o\x00n\x00e\x00\n", "one\n", true},
		"UTF-16 without a mark": {"\x00o\x00n\x00e\x00 \x00t\x00w\x00o\x00\n", "one two\n", true},
		"half a character":      {"\xff\xfeo\x00n", "\\xff\\xfeo\\x00n", false},
		"noise":                 {string(noise), "", false},
		"numbers":               {strings.Repeat("\x01\x00\x00\x00", 100), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, ok := legible.Text([]byte(c.content))
			if ok != c.ok || ok && string(text) != c.want {
				t.Errorf("%v %q, want %v %q", ok, text, c.ok, c.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add("one\x00\n\xff\xfe\ntwo")
	f.Add("\xff\xfeo\x00\x00\xd8")
	f.Fuzz(func(t *testing.T, content string) {
		text, _ := legible.Text([]byte(content))
		for _, r := range string(text) {
			if r < ' ' && !strings.ContainsRune("\t\n\r\f", r) || r == 0x7f {
				t.Errorf("%q holds %q", text, r)
			}
		}
		if !utf8.Valid(text) {
			t.Errorf("%q", text)
		}
	})
}
